import type { AdapterPayload } from 'oidc-provider';
import { clientEvent } from '../../events/event.ts';
import type { Outbox } from '../../events/outbox.ts';
import { chargeTo, UNUSED_CLIENTS } from '../../storage/quota.ts';
import {
  type Clock,
  type Entry,
  jsonEntry,
  type Mutation,
  type References,
  type Store,
  unixSeconds,
} from '../../storage/store.ts';
import { clientOf, describeClient, eventClient } from '../event-client.ts';
import { storedGrants } from '../grants.ts';
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../rules/client-metadata.ts';

const TRIES = 3;

export interface ClientRecordsOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Seconds that a client is kept if no member has connected it yet. */
  readonly unusedLifetime: number;
  /** Called and awaited after every revocation, whatever caused it, and as soon as a client is deleted. */
  readonly onRevoked: () => void | Promise<void>;
  /** Events for the backend are written in the commit that makes the change. */
  readonly outbox: Outbox;
}

/**
 * Registered clients in the store. Anyone can register, so a new client expires (after about a day by default), unless
 * it gets an authorization code: from then on it is kept permanently. The first use consumes the client's entry, so it
 * happens only once, and never to a client that has expired or been deleted in the meantime.
 */
export function clientRecords(options: ClientRecordsOptions) {
  const { store, clock, unusedLifetime, onRevoked, outbox } = options;
  const keep = async (id: string): Promise<boolean> => {
    const client = await store.get('Client', id);
    if (client === undefined || client.consumedAt !== undefined) return true;
    const tokens = await store.findBy('RegistrationAccessToken', 'client', id);
    return store.commit([
      ...forGood('Client', id, client, {}),
      ...tokens.flatMap((token) => {
        const { jti } = JSON.parse(token.payload) as { jti: string };
        return forGood('RegistrationAccessToken', jti, token, { client: id });
      }),
    ]);
  };

  return {
    /** Stores a new client, or an update, which leaves the expiry unchanged. */
    async save(id: string, payload: AdapterPayload): Promise<void> {
      const before = await store.get('Client', id);
      const expiresAt = before === undefined ? unixSeconds(clock) + unusedLifetime : before.expiresAt;
      const charge = expiresAt === undefined ? undefined : chargeTo(UNUSED_CLIENTS);
      const entry = { ...jsonEntry('Client', id, withoutDefault(payload), expiresAt), charge };
      const app = eventClient(clientOf(id, payload));
      const events = outbox.entries(clientEvent(before === undefined ? 'client.registered' : 'client.updated', app));
      await store.commit([entry, ...events].map((written) => ({ op: 'put', entry: written })));
    },

    /** When entries that must expire with the client expire; undefined: never. */
    async expiryOf(id: string | undefined): Promise<number | undefined> {
      return id === undefined ? undefined : (await store.get('Client', id))?.expiresAt;
    },

    /** Call when a code is issued: marks the client as used by members. */
    async used(id: string | undefined): Promise<void> {
      if (id === undefined) return;
      // Retries, because the client may be updated at the same time, with a new registration access token.
      for (let left = TRIES; left > 0; left -= 1) if (await keep(id)) return;
    },

    /**
     * Deletes the client (RFC 7592 section 2.3). This takes effect at once, because its codes and tokens are worthless
     * without it. Its grants are then ended in batches, with their codes and tokens, since there may be very many.
     */
    async remove(id: string): Promise<void> {
      // Read first: the grants are deleted last, and their events still need the app's name.
      const app = await describeClient(store, id);
      const events = outbox
        .entries(clientEvent('client.deleted', app))
        .map((entry): Mutation => ({ op: 'put', entry }));
      await store.commit(
        [
          { op: 'delete', kind: 'Client', id },
          { op: 'deleteBy', kind: 'RegistrationAccessToken', name: 'client', value: id },
          ...events,
        ],
        'vital',
      );
      await onRevoked();
      const describe = async () => app;
      const grants = storedGrants(store, () => {}, outbox, describe);
      await grants.revokeAll({ client: id }, { by: 'app', reason: 'client_deleted' });
    },
  };
}

export type ClientRecords = ReturnType<typeof clientRecords>;

/**
 * The default algorithm is not stored: during a rolling upgrade, gates that only know ES256 read this client, too, and
 * would refuse it. What they have stored names ES256, which stays in force.
 */
function withoutDefault({ id_token_signed_response_alg: algorithm, ...payload }: AdapterPayload): AdapterPayload {
  return algorithm === DEFAULT_ID_TOKEN_ALGORITHM ? payload : { ...payload, id_token_signed_response_alg: algorithm };
}

/** `consume` guards `put`, so that a deleted entry is not restored. */
function forGood(kind: string, id: string, { payload }: Entry, references: References): readonly Mutation[] {
  return [
    { op: 'consume', kind, id },
    { op: 'put', entry: { kind, id, payload, expiresAt: undefined, references } },
  ];
}
