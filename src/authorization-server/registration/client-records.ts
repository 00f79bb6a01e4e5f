import type { AdapterPayload } from 'oidc-provider';
import { clientEvent } from '../../events/event.ts';
import type { Outbox } from '../../events/outbox.ts';
import { chargeTo, UNUSED_CLIENTS } from '../../storage/quota.ts';
import { type Clock, type Entry, type Mutation, type Store, unixSeconds } from '../../storage/store.ts';
import { clientOf, describeClient, eventClient } from '../event-client.ts';
import { storedGrants } from '../grants.ts';

/** What a client may have besides its grants and what hangs on them. */
const BELONGINGS = ['AccessToken', 'RefreshToken', 'AuthorizationCode'] as const;

const TRIES = 3;

export interface ClientRecordsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Seconds that a client is kept which no member has connected yet. */
  readonly unusedLifetime: number;
  /** Called as soon as a client is gone. */
  readonly onRevoked: () => void | Promise<void>;
  /** What the backend is told of is written down in the commit that makes it so. */
  readonly outbox: Outbox;
}

/**
 * Registered clients in the store. Anyone can register, so a client is kept for a day or so, and for good from its first
 * authorization code on. That first use is the consumption of its entry: it happens once, and not to a client that has
 * expired or was deleted meanwhile.
 */
export interface ClientRecords {
  /** Writes a new client, or an update, which leaves the expiry as it is. */
  save(id: string, payload: AdapterPayload): Promise<void>;
  /** When what belongs to a client, and must end with it, expires; undefined: never. */
  expiryOf(id: string | undefined): Promise<number | undefined>;
  /** A code is issued: the client is one that members use. */
  used(id: string | undefined): Promise<void>;
  /**
   * Ends the client (RFC 7592 §2.3): at once, since without it no code or token of its is worth anything. Its grants, codes
   * and tokens are then deleted some at a time, as there may be very many.
   */
  remove(id: string): Promise<void>;
}

export function clientRecords({
  store,
  clock,
  unusedLifetime,
  onRevoked,
  outbox,
}: ClientRecordsOptions): ClientRecords {
  const keep = async (id: string): Promise<boolean> => {
    const client = await store.get('Client', id);
    if (client === undefined || client.consumedAt !== undefined) return true;
    const tokens = await store.findBy('RegistrationAccessToken', 'client', id);
    return store.commit([
      ...forGood('Client', id, client, id),
      ...tokens.flatMap((token) => {
        const { jti } = JSON.parse(token.payload) as { jti: string };
        return forGood('RegistrationAccessToken', jti, token, id);
      }),
    ]);
  };

  return {
    async save(id, payload) {
      const before = await store.get('Client', id);
      const expiresAt = before === undefined ? unixSeconds(clock) + unusedLifetime : before.expiresAt;
      const charge = expiresAt === undefined ? undefined : chargeTo(UNUSED_CLIENTS);
      const entry = {
        kind: 'Client',
        id,
        payload: JSON.stringify(payload),
        expiresAt,
        references: { client: id },
        charge,
      };
      const app = eventClient(clientOf(id, payload));
      const told = outbox.entries(clientEvent(before === undefined ? 'client.registered' : 'client.updated', app));
      await store.commit([entry, ...told].map((written) => ({ op: 'put', entry: written })));
    },

    async expiryOf(id) {
      return id === undefined ? undefined : (await store.get('Client', id))?.expiresAt;
    },

    async used(id) {
      if (id === undefined) return;
      // It may have been updated in between, with another registration access token.
      for (let left = TRIES; left > 0; left -= 1) if (await keep(id)) return;
    },

    async remove(id) {
      const ofClient = (kind: string): Mutation => ({ op: 'deleteBy', kind, name: 'client', value: id });
      // Its grants go last, and are to be told of by its name all the same.
      const app = await describeClient(store, id);
      const told = outbox.entries(clientEvent('client.deleted', app)).map((entry): Mutation => ({ op: 'put', entry }));
      await store.commit([{ op: 'delete', kind: 'Client', id }, ofClient('RegistrationAccessToken'), ...told], 'vital');
      await onRevoked();
      const grants = storedGrants(
        store,
        () => {},
        outbox,
        async () => app,
      );
      await grants.revokeAll({ client: id }, { by: 'app', reason: 'client_deleted' });
      await store.commit(BELONGINGS.map(ofClient), 'vital');
    },
  };
}

/** `consume` guards `put`: what is gone does not come back. */
function forGood(kind: string, id: string, { payload }: Entry, client: string): readonly Mutation[] {
  return [
    { op: 'consume', kind, id },
    { op: 'put', entry: { kind, id, payload, expiresAt: undefined, references: { client } } },
  ];
}
