import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Clock, Entry, NewEntry, Store } from '../storage/store.ts';
import { unixSeconds } from '../storage/store.ts';
import { currentUnitOfWork } from './unit-of-work.ts';

/** Models whose removal takes access away from a token that may be cached. */
const ACCESS_MODELS = new Set(['AccessToken', 'RefreshToken', 'Grant', 'Client']);

export interface AdapterOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Called after anything was revoked: the one place that sees every revocation, whoever asked for it. */
  readonly onRevoked: () => void;
}

/** oidc-provider's adapter over the store: one per model. Out: a factory as its `adapter` option takes it. */
export function adapterFactory({ store, clock, onRevoked }: AdapterOptions): (model: string) => Adapter {
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const entry: NewEntry = {
        kind: model,
        id,
        payload: JSON.stringify(payload),
        expiresAt: typeof expiresIn === 'number' ? unixSeconds(clock) + expiresIn : undefined,
        references: referencesOf(payload),
      };
      const unit = currentUnitOfWork();
      if (unit === undefined) await store.commit([{ op: 'put', entry }]);
      else unit.put(entry);
    },

    async find(id) {
      return toPayload(await (currentUnitOfWork() ?? store).get(model, id));
    },

    async findByUid(uid) {
      return toPayload((await store.findBy(model, 'uid', uid))[0]);
    },

    // Device codes are not served; oidc-provider asks for the method all the same.
    async findByUserCode() {
      return undefined;
    },

    async consume(id) {
      const unit = currentUnitOfWork();
      if (unit !== undefined) {
        unit.consume(model, id);
        return;
      }
      if (!(await store.commit([{ op: 'consume', kind: model, id }]))) {
        throw new errors.InvalidGrant('already used');
      }
    },

    async destroy(id) {
      await store.commit([{ op: 'delete', kind: model, id }]);
      if (ACCESS_MODELS.has(model)) onRevoked();
    },

    async revokeByGrantId(grantId) {
      await store.commit([{ op: 'deleteBy', kind: model, name: 'grant', value: grantId }]);
      onRevoked();
    },
  });
}

function referencesOf(payload: AdapterPayload): NewEntry['references'] {
  const { grantId, accountId, clientId, uid } = payload;
  return {
    ...(typeof grantId === 'string' ? { grant: grantId } : {}),
    ...(typeof accountId === 'string' ? { member: accountId } : {}),
    ...(typeof clientId === 'string' ? { client: clientId } : {}),
    ...(typeof uid === 'string' ? { uid } : {}),
  };
}

function toPayload(entry: Entry | undefined): AdapterPayload | undefined {
  if (entry === undefined) return undefined;
  const payload = JSON.parse(entry.payload) as AdapterPayload;
  return entry.consumedAt === undefined ? payload : { ...payload, consumed: entry.consumedAt };
}
