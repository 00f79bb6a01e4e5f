import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../http/canonical-json.ts';
import type { Counters } from '../storage/counters.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';
import type { ToolInput } from './argument-template.ts';
import type { ToolOutcome } from './tool.ts';

export interface OnceParts {
  readonly store: Store;
  readonly counters: Counters;
  readonly clock: Clock;
}

/** A call that must be done only once, however often it is sent. */
interface KeyedCall {
  readonly member: string;
  readonly clientId: string;
  readonly tool: string;
  readonly key: string;
  readonly input: ToolInput;
  /** Aborts when waiting for the first call takes too long. */
  readonly signal: AbortSignal;
}

/**
 * Does the work of a call, or returns the outcome of the first call with the same member, app, tool and key, on any
 * replica. Rejects with GatewayError `store_unavailable` before doing anything.
 */
export type Once = (
  call: KeyedCall,
  work: () => Promise<ToolOutcome>,
) => Promise<ToolOutcome & { readonly repeated?: true }>;

interface Kept {
  /** Fingerprint of the arguments. */
  readonly of: string;
  /** Milliseconds since the epoch. */
  readonly begun: number;
  /** Undefined while the call is in progress, or if its replica stopped before it ended. */
  readonly outcome?: ToolOutcome;
}

const KIND = 'ToolCall';
const LOOK_EVERY = 100;
const GRACE = 10_000;

const failed = (message: string): ToolOutcome => ({ kind: 'failed', message });
const UNKNOWN = 'It is not known whether this was done: check the current state before you try again with another key.';

/**
 * Times are in seconds: `window` is how long a key is remembered after its call, `deadline` how long a call may take.
 * `keys` limits the keys of a member within the window, because each may store a whole result.
 */
export function createOnce(
  { store, counters, clock }: OnceParts,
  { window, deadline, keys }: { readonly window: number; readonly deadline: number; readonly keys: number },
  onError: (error: unknown) => void,
): Once {
  const rate = { requests: keys, per: window };
  const entryOf = (id: string, kept: Kept) => ({
    kind: KIND,
    id,
    payload: JSON.stringify(kept),
    expiresAt: unixSeconds(clock) + Math.ceil(window),
    references: {},
  });

  /**
   * Claims the key of a call. Resolves to undefined if this is the first call, which no other call can be from now on;
   * otherwise to the outcome to answer with.
   */
  async function claim(id: string, kept: Kept, { member, signal }: KeyedCall): Promise<ToolOutcome | undefined> {
    for (;;) {
      const entry = await store.get(KIND, id);
      if (entry === undefined) {
        if (counters.peek(`tool-keys ${member}`, rate).count >= keys) {
          return failed('Too many idempotency keys: make the call without one, or later.');
        }
        if (await store.commit([{ op: 'create', entry: entryOf(id, kept) }])) {
          counters.add(`tool-keys ${member}`, rate);
          return undefined;
        }
      } else {
        const first = JSON.parse(entry.payload) as Kept;
        if (first.of !== kept.of) {
          return failed('This idempotency key was used with other arguments: use a new key for a new request.');
        }
        if (first.outcome !== undefined) return first.outcome;
        if (clock() - first.begun > deadline * 1000 + GRACE) return failed(UNKNOWN);
      }
      await sleep(LOOK_EVERY, undefined, { signal }).catch(() => undefined);
      if (signal.aborted)
        return failed('The first call with this idempotency key is still in progress. Try again later.');
    }
  }

  return async (call, work) => {
    const id = JSON.stringify([call.member, call.clientId, call.tool, call.key]);
    const kept: Kept = { of: fingerprint(call.input), begun: clock() };
    const earlier = await claim(id, kept, call);
    if (earlier !== undefined) return { ...earlier, repeated: true };
    const done = await work();
    const undone = done.kind === 'failed' && done.undone === true;
    const outcome = done.kind === 'failed' && !undone ? failed(`${done.message} ${UNKNOWN}`) : done;
    try {
      // A call that changed nothing may be repeated with the same key.
      await store.commit([
        undone ? { op: 'delete', kind: KIND, id } : { op: 'put', entry: entryOf(id, { ...kept, outcome }) },
      ]);
    } catch (thrown) {
      // The call stays marked as in progress, and later as unknown: a repeated call is answered accordingly, and
      // nothing is done twice.
      onError(thrown);
    }
    return outcome;
  };
}

/** A hash of arguments, independent of the order of names. */
export function fingerprint(input: ToolInput): string {
  return hash('sha256', canonicalJson(input), 'base64url');
}
