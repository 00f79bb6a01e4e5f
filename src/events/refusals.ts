import { randomUUID } from 'node:crypto';
import type { RequestRecord } from '../http/request-record.ts';
import type { Audit } from '../operations/audit.ts';
import type { Clock, Store } from '../storage/store.ts';
import { accessRefused, type EventClient, type Refusals } from './event.ts';
import type { Outbox } from './outbox.ts';

/** A refused request. */
export interface Refused {
  readonly reason: string;
  readonly clientId: string | undefined;
  readonly member: string | undefined;
  readonly grantId: string | undefined;
}

const MINUTE = 60_000;
/** The most separate counts within a minute. Beyond it, refusals are counted by reason alone. */
const MOST = 1000;

interface Count extends Refused {
  readonly minute: number;
  readonly firstAt: number;
  count: number;
  lastAt: number;
}

/** Counts refusals, and queues one event a minute for each app, member and reason. */
export function refusalCounts(
  store: Store,
  outbox: Outbox,
  clock: Clock,
  describe: (clientId: string) => Promise<EventClient>,
) {
  const replica = randomUUID();
  const counts = new Map<string, Count>();

  const eventOf = async ({ minute, clientId, ...of }: Count) => {
    const client = clientId === undefined ? undefined : await describe(clientId);
    return accessRefused({ ...of, client } satisfies Refusals, `${replica} ${minute}`);
  };

  return {
    count(refused: Refused): void {
      if (!outbox.active) return;
      const now = clock();
      const minute = Math.floor(now / MINUTE);
      const keyOf = ({ reason, clientId, member }: Refused) => JSON.stringify([minute, reason, clientId, member]);
      const anonymous = { reason: refused.reason, clientId: undefined, member: undefined, grantId: undefined };
      const who = counts.size < MOST || counts.has(keyOf(refused)) ? refused : anonymous;
      const known = counts.get(keyOf(who));
      if (known === undefined) counts.set(keyOf(who), { ...who, minute, firstAt: now, lastAt: now, count: 1 });
      else {
        known.count += 1;
        known.lastAt = now;
      }
    },

    /**
     * Queues the counts of completed minutes, or all counts with `everything`. Throws `store_unavailable`, in which case
     * no count is lost.
     */
    async flush(everything = false): Promise<void> {
      const current = Math.floor(clock() / MINUTE);
      for (const [key, count] of counts) {
        if (count.minute === current && !everything) continue;
        const entries = outbox.entries(await eventOf(count));
        await store.commit(entries.map((entry) => ({ op: 'put', entry })));
        counts.delete(key);
      }
    },
  };
}

/** Wraps an audit to count refusals for the backend as well. */
export function countingRefusals(audit: Audit, refused: (refused: Refused) => void): Audit {
  return (event) => {
    audit(event);
    const { action, outcome, clientId, member, grantId } = event;
    const whose = { clientId, member, grantId };
    if (outcome === 'refused') refused({ reason: 'insufficient_scope', ...whose });
    // When the limit of an address is exceeded, the app and the member are unknown.
    if (action === 'limit_tripped' && (clientId !== undefined || member !== undefined))
      refused({ reason: 'too_many_requests', ...whose });
  };
}

/**
 * Counts requests that the gate refused. A request without a token is not a refusal: that is how apps discover where
 * to get one.
 */
export function refusedAtGate(refused: (refused: Refused) => void, { reason, principal }: RequestRecord): void {
  if (reason === 'no_token') return;
  const known = principal?.kind === 'member' ? principal : undefined;
  refused({ reason, clientId: known?.clientId, member: known?.sub, grantId: known?.grantId });
}
