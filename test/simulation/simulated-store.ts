import { GatewayError } from '../../src/errors.ts';
import { inTime } from '../../src/storage/patience.ts';
import type { RawMutation, RawStore } from '../../src/storage/store.ts';
import type { Choices } from './choices.ts';
import { createEntries, type Undo } from './entries.ts';
import type { Fault } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import { currentWork, type Work } from './simulated-time.ts';

/** What the store tells the simulation. */
interface StoreWatch {
  /** A call is about to leave the gate, or its answer has arrived there. The gate may die here. */
  step(work: Work): void;
  /** A commit was applied. `number` counts them. */
  committed(work: Work, mutations: readonly RawMutation[], number: number): void;
  /** Commits after this number are lost. */
  failedOver(last: number): void;
  trouble(work: Work, what: string): void;
}

export interface StoreOptions {
  readonly scheduler: Scheduler;
  readonly choices: Choices;
  readonly faults: readonly Fault[];
  /** Milliseconds at which the times of the faults begin. */
  readonly began: number;
  /** Whether commits are acknowledged when the standby has them. */
  readonly durable: boolean;
  readonly before: Parameters<typeof createEntries>[1];
  readonly watch: StoreWatch;
}

/** A store in a network, with a standby, shared by gates of one process. Every call takes simulated time, and may fail. */
export function createSimulatedStore(options: StoreOptions) {
  const { scheduler, choices, faults, began, durable, watch } = options;
  // The store has a clock of its own, which is right.
  const entries = createEntries(() => Math.floor(scheduler.now() / 1000), options.before);
  const undos: Undo[] = [];
  /** How many commits the standby has. */
  let received = 0;
  /** How many commits were applied before the last failover, and are in force. */
  let base = 0;
  /** How many primaries there were. */
  let life = 0;
  const waiting: { readonly upTo: number; readonly answer: () => void }[] = [];
  const now = () => scheduler.now() - began;
  const isNow = ({ from, until }: { readonly from: number; readonly until: number }) => from <= now() && now() < until;

  const receive = (upTo: number): void => {
    received = Math.max(received, upTo);
    for (const one of waiting.splice(0)) {
      if (one.upTo <= received) one.answer();
      else waiting.push(one);
    }
  };
  /** Sends a commit to the standby. */
  const replicate = (name: string, upTo: number): void => {
    const away = faults.map((fault) => {
      if (fault.kind === 'standby away' && isNow(fault)) return fault.until - now();
      const isLost = fault.kind === 'failover' && fault.at - fault.lag <= now() && now() < fault.at;
      return isLost ? fault.at - now() : 0;
    });
    const until = Math.max(0, ...away);
    const current = life;
    scheduler.after(until + choices.delay(`${name} replication`), () => {
      if (current === life) receive(upTo);
    });
  };
  const failOver = (): void => {
    for (const undo of undos.splice(Math.max(0, received - base)).toReversed()) entries.undo(undo);
    base = received;
    undos.length = 0;
    waiting.length = 0;
    watch.failedOver(received);
  };
  let down = false;
  for (const fault of faults) {
    if (fault.kind !== 'failover') continue;
    scheduler.after(fault.at - now(), () => {
      down = true;
      // What is on its way to the standby is lost with the primary.
      life += 1;
    });
    scheduler.after(fault.at + fault.takes - now(), () => {
      failOver();
      down = false;
    });
  }

  const troubleOf = (name: string, isWrite: boolean) => {
    for (const fault of faults) {
      if (fault.kind !== 'store' || !isNow(fault) || (fault.trouble === 'read-only' && !isWrite)) continue;
      if (choices.chance(`${name} ${fault.trouble} ${fault.from}`, fault.chance)) return fault.trouble;
    }
    return undefined;
  };

  /** A call is at the store. */
  const arrive = <T>(
    work: Work,
    name: string,
    isWrite: boolean,
    apply: (work: Work, name: string) => { value: T; upTo: number },
    {
      answer,
      resolve,
      reject,
    }: {
      readonly answer: (delay: number, send: () => void) => void;
      readonly resolve: (value: T) => void;
      readonly reject: (reason: Error) => void;
    },
  ): void => {
    // What a gate had sent before it died may still arrive.
    if (!work.life.alive && choices.chance(`${name} lost with its gate`, 0.5)) return;
    const trouble = troubleOf(name, isWrite);
    if (trouble !== undefined) watch.trouble(work, trouble);
    if (down || trouble === 'timeout') return;
    const delay = choices.delay(`${name} back`);
    if (trouble === 'refused' || trouble === 'read-only') {
      answer(delay, () => reject(new Error(`simulated: ${trouble}`)));
      return;
    }
    const { value, upTo } = apply(work, name);
    if (trouble === 'unanswered') return;
    const late = trouble === 'late' ? 1000 * choices.unit(`${name} late`) : 0;
    const back = () => answer(late + delay, () => resolve(value));
    if (!durable || upTo <= received) back();
    else waiting.push({ upTo, answer: back });
  };

  /** A call over the network. `apply` answers, or says which commits the standby has to have before it does. */
  const call = async <T>(
    isWrite: boolean,
    apply: (work: Work, name: string) => { value: T; upTo: number },
  ): Promise<T> => {
    const work = currentWork();
    work.calls += 1;
    const name = `${work.name}.${work.calls}`;
    try {
      return await inTime(
        () =>
          new Promise<T>((resolve, reject) => {
            watch.step(work);
            const answer = (delay: number, send: () => void) =>
              scheduler.after(delay, () => {
                if (work.life.alive) watch.step(work);
                if (work.life.alive) send();
              });
            scheduler.after(choices.delay(`${name} there`), () => {
              arrive(work, name, isWrite, apply, { answer, resolve, reject });
              return 'nothing goes on';
            });
          }),
      );
    } catch (cause) {
      throw new GatewayError('store_unavailable', { cause });
    }
  };
  const read = <T>(look: () => T) => call(false, () => ({ value: look(), upTo: 0 }));

  const raw: RawStore = {
    get: (kind, id) => read(() => entries.get(kind, id)),
    findBy: (kind, name, value, limit) => read(() => entries.findBy(kind, name, value, limit)),
    count: (kind, name, value) => read(() => entries.count(kind, name, value)),
    scan: (kinds) => read(() => ({ entries: entries.all(kinds), next: undefined, looked: 0, total: undefined })),
    commit: (mutations) =>
      call(true, (work, name) => {
        const undo = entries.apply(mutations);
        if (undo === undefined) return { value: false, upTo: 0 };
        if (mutations.length > 0) {
          undos.push(undo);
          watch.committed(work, mutations, base + undos.length);
          replicate(name, base + undos.length);
        }
        return { value: true, upTo: base + undos.length };
      }),
    sweep: async () => 0,
    compact: async () => 0,
    close: async () => {},
  };
  return { raw, entries };
}
