import type { Trace } from '../trace.ts';
import type { Answer } from './gates.ts';
import { endsConnection, HeldRequest, type Stops } from './held-request.ts';
import type { Connection, Stage } from './stage.ts';

/** A request that a trace is about. */
export interface Running {
  readonly held: HeldRequest;
  readonly gate: string;
  readonly over: Promise<unknown>;
  readonly abort: () => void;
  /** Undefined while it runs, or when its client has given up. */
  answer?: Answer;
  /** Its client has given up, or its gate was killed. */
  gone: boolean;
  /** It has ended its connection. */
  hasEnded: boolean;
}

/** What a trace has brought about so far. */
export interface Played {
  readonly stage: Stage;
  readonly trace: Trace;
  readonly connections: Map<string, Connection>;
  /**
   * By their names in the model: token requests, look-ups as `gate pair`, endings as `gate connection`, suspensions as
   * `gate member`.
   */
  readonly requests: Map<string, Running>;
  /** Approvals that were sent before the member was suspended. */
  readonly approvals: Map<string, { readonly held: HeldRequest; readonly over: Promise<void> }>;
}

type Sending = { readonly answer: Promise<Answer>; readonly abort: () => void };

let sent = 0;

/** A request with a name of its own. */
export function heldFor(name: string, stops: Stops): HeldRequest {
  sent += 1;
  return new HeldRequest(`${sent}-${name.replaceAll(' ', '-')}`, stops);
}

/** Sends a request, and resolves when it waits or is answered. `name` is its name in the model. */
export async function start(
  { requests }: Played,
  name: string,
  gate: string,
  stops: Stops,
  send: (held: HeldRequest) => Sending,
): Promise<void> {
  const held = heldFor(name, stops);
  const { answer, abort } = send(held);
  const over = answer.then(
    (got) => {
      running.answer = got;
    },
    () => {
      running.gone = true;
    },
  );
  const running: Running = { held, gate, abort, gone: false, hasEnded: false, over };
  requests.set(name, running);
  await held.advance(over);
}

/** Lets it go on until it waits again or is answered. */
export async function goOn({ stage, trace }: Played, one: Running | undefined): Promise<void> {
  if (one === undefined) throw new Error('there is no such request');
  const { stop } = one.held;
  const waits = (trace.given.Durable ?? []).length > 0 && stop?.when === 'after';
  if (waits && stop.written > stage.gates.copies.replicated())
    throw new Error('the standby does not have the commit that is acknowledged');
  await one.held.advance(one.over);
  one.hasEnded ||= isEnding(one);
}

/** Lets it go on until it is answered. */
export async function finish(played: Played, name: string, wanted?: number): Promise<void> {
  const one = played.requests.get(name);
  await goOn(played, one);
  // A suspension waits several times.
  for (let times = 0; times < 5 && one?.answer === undefined; times += 1) await goOn(played, one);
  if (wanted !== undefined && one?.answer?.status !== wanted)
    throw new Error(`${name} was answered ${one?.answer?.status}`);
}

/** Whether it has just ended a connection, and does not know yet. */
export function isEnding({ held }: Running): boolean {
  return held.stop?.when === 'after' && endsConnection(held.stop.call);
}

/** Its client gives up, or its gate is killed. */
export function leave(one: Running | undefined): void {
  if (one === undefined || one.answer !== undefined) return;
  one.gone = true;
  one.abort();
}

/** The store fails while it waits for it. */
export async function giveUp(one: Running): Promise<void> {
  one.held.fail();
  await one.over;
  if (one.answer?.status !== 503) throw new Error(`when the store failed, a request got ${one.answer?.status}`);
}
