import { NOTHING_COLLECTED } from '../operations/metrics-sum.ts';
import type { UnusedTokens } from '../operations/unused-tokens.ts';
import type { Places } from '../storage/places.ts';
import type { Illness, SharedStore } from '../storage/shared.ts';
import { sharedCounters } from '../storage/shared-counters.ts';
import type { Clock } from '../storage/store.ts';
import type { Answers, Link } from './link.ts';
import type { PrimaryAnswers, Start, WorkerAnswers } from './protocol.ts';
import type { OwnAnswers, Seat } from './seat.ts';

/** What the primary has to ask for a whole answer of: it asks all workers first, each of which has less time. */
const TOGETHER = 3_000;
/** Grants that were told of; then it starts anew. */
const MOST_TOLD = 10_000;

const STARTING = { ok: false, text: 'starting', checks: [] } as const;

export interface SeatTaking {
  /** What this worker answers its primary, but for `drain` and `reload`. */
  readonly answers: Omit<Answers<WorkerAnswers>, 'drain' | 'reload'>;
  /** What it says of itself; undefined: it has not come so far. */
  readonly own: () => OwnAnswers | undefined;
  /** In: how the worker was told to begin. */
  begin(start: Start): Seat;
}

/** A worker's part of what all share. In: the link to the primary, which is asked for when it is needed, and the clock. */
export function takeSeat(link: () => Link<PrimaryAnswers>, clock: Clock): SeatTaking {
  const listeners: (() => void)[] = [];
  const illListeners: ((illness: Illness) => void)[] = [];
  let ill: Illness | undefined;
  let sweeps = false;
  let own: OwnAnswers | undefined;

  const becomeIll = (illness: Illness): void => {
    ill = illness;
    for (const listener of illListeners) listener(illness);
  };
  const places: Places = {
    async take(limits) {
      const taken = await link().ask('take', limits);
      if ('wait' in taken) return { kind: 'full', wait: taken.wait };
      return { kind: 'taken', giveBack: (counts) => link().tell('giveBack', { place: taken.place, counts }) };
    },
  };
  const storageOf = (workers: number): SharedStore => ({
    bus: {
      announce: () => link().ask('revoked', null),
      subscribe: (listener) => void listeners.push(listener),
      async close() {},
    },
    counters: sharedCounters((key, count, per) => link().ask('count', { key, count, per }), clock, workers),
    places,
    unwritable: (reason) => link().tell('ill', { kind: 'unwritable', reason }),
    onIll(listener) {
      illListeners.push(listener);
      if (ill !== undefined) listener(ill);
    },
  });

  const seatOf = ({ sent, workers }: Start): Seat => {
    const embedded = sent.config.store.kind === 'sqlite';
    return {
      storage: embedded ? storageOf(workers) : undefined,
      unused: embedded ? unusedElsewhere(link) : undefined,
      sweeps: () => sweeps,
      together(answers) {
        own = answers;
        const { observer } = answers;
        const counted = () => link().ask('observed', null, TOGETHER);
        return {
          health: { live: answers.health.live, ready: () => link().ask('ready', null, TOGETHER) },
          metrics: () => link().ask('metrics', null, TOGETHER),
          observer:
            observer === undefined
              ? undefined
              : { yaml: async () => observer.yaml(await counted()), json: async () => observer.json(await counted()) },
        };
      },
    };
  };

  return {
    own: () => own,
    answers: {
      revoked() {
        for (const listener of listeners) listener();
      },
      ready: async () => own?.health.ready() ?? STARTING,
      metrics: async () => own?.metrics() ?? NOTHING_COLLECTED,
      observed: () => own?.observer?.counted(),
      sweep() {
        sweeps = true;
      },
      ill: becomeIll,
    },
    begin(start) {
      sweeps = start.sweeps;
      if (start.illness !== undefined) becomeIll(start.illness);
      return seatOf(start);
    },
  };
}

/** The primary looks for unused tokens: it hears of those of all workers. Each grant is told of once. */
function unusedElsewhere(link: () => Link<PrimaryAnswers>): UnusedTokens {
  const told = new Set<string>();
  const used = (grantId: string): void => {
    if (told.has(grantId)) return;
    if (told.size >= MOST_TOLD) told.clear();
    told.add(grantId);
    link().tell('used', grantId);
  };
  return {
    heard({ action, clientId, clientHost, grantId }) {
      if (action === 'token_issued') link().tell('issued', { action, clientId, clientHost, grantId });
    },
    observed: (ask) => async (token) => {
      const answer = await ask(token);
      if (answer.active) used(answer.grantId);
      return answer;
    },
    used,
    async judge() {},
    apps: () => 0,
    connections: () => 0,
  };
}
