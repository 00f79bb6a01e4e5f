import { GatewayError } from '../../src/errors.ts';
import { type EventsPart, openEvents } from '../../src/events/part.ts';
import type { Choices } from './choices.ts';
import type { SimulatedGate } from './gate.ts';
import type { Connection } from './known.ts';
import type { Scheduler } from './scheduler.ts';
import { clockOf, currentWork, type Life } from './simulated-time.ts';

/** Seconds. */
const TIMEOUT = 10;
const KEPT = 86_400;

interface BackendOptions {
  readonly scheduler: Scheduler;
  readonly choices: Choices;
  readonly say: (who: string, what: string, answer?: string) => void;
  /** Whether nothing fails any more. */
  readonly isCalm: () => boolean;
  readonly connectionOf: (grantId: string) => Connection | undefined;
  readonly received: (type: string, connection: Connection) => void;
}

/** The backend that is sent events. It is away at times, and at times its answer is lost. */
export function createBackend({ scheduler, choices, say, isCalm, connectionOf, received }: BackendOptions) {
  const tries = new Map<string, number>();

  /** One webhook (src: events/send.ts). */
  const call = async ({ body }: { readonly body?: string }): Promise<{ status: number; headers: object }> => {
    const { life } = currentWork();
    const { type, data } = JSON.parse(body ?? '') as { type: string; data: { grant_id?: string } };
    const connection = connectionOf(data.grant_id ?? '');
    const what = `${type} ${connection?.name}`;
    const count = (tries.get(what) ?? 0) + 1;
    tries.set(what, count);
    const name = `${what} ${count}`;
    const wait = (milliseconds: number) =>
      new Promise<void>((resolve) => scheduler.after(milliseconds, () => life.alive && resolve()));
    const trouble = isCalm() ? 1 : choices.unit(`${name} trouble`);
    await wait(choices.delay(`${name} there`));
    if (trouble < 0.12) {
      say('backend', 'is away', what);
      return { status: 503, headers: {} };
    }
    say('backend', `is told by ${life.name}`, what);
    if (connection !== undefined) received(type, connection);
    await wait(trouble < 0.2 ? TIMEOUT * 1000 : choices.delay(`${name} back`));
    if (trouble < 0.2) throw new GatewayError('upstream_unavailable');
    return { status: 204, headers: {} };
  };

  return {
    /** The part of a gate that sends events, which writes them from now on. */
    connect(gate: SimulatedGate, life: Life): EventsPart {
      const nothing = () => {};
      const foundation = {
        store: gate.store,
        metrics: { events: { delivered: nothing, failed: nothing, dropped: nothing } },
        audit: nothing,
        clock: () => clockOf(life),
        log: { info: nothing, warn: nothing, error: nothing },
      };
      const events = { upstream: 'school', path: '/events', maxAge: KEPT, maxPending: 1000 };
      const loaded = { config: { events, upstreams: { school: { timeout: TIMEOUT } } }, eventKeys: [Buffer.alloc(32)] };
      const part = openEvents(foundation as never, loaded as never, { call: call as never });
      gate.seat.outbox = part.outbox;
      part.start?.();
      return part;
    },
  };
}
