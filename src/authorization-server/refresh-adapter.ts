import Provider, { type Adapter } from 'oidc-provider';
import type { Mutation, Store } from '../storage/store.ts';
import { familyEntry, findInFamily, REFRESH_TOKEN } from './refresh-family.ts';
import type { RefreshTokens } from './refresh-token.ts';
import { currentUnitOfWork } from './unit-of-work.ts';

/** Refresh tokens that oidc-provider named, before a record was kept for each family. Each has an entry of its own. */
const OLD = /^[\w-]{43}$/;

/**
 * Milliseconds after which a record is read again before it is updated. Meanwhile, as while the backend is asked about the
 * member, a store may have failed over and lost writes. Then the record may have the revision that was read, with another token.
 */
const FRESH = 100;
/** A revision that no entry has. */
const NEVER = 0;

/**
 * oidc-provider's adapter for refresh tokens.
 * @param entries - the adapter for models whose instances have an entry each
 */
export function refreshTokenAdapter(store: Store, tokens: RefreshTokens, entries: Adapter): Adapter {
  return {
    ...entries,

    /** Updates the record of the family that was read in this unit of work, which fails if it has changed since. */
    async upsert(value, payload) {
      const token = tokens.read(value);
      if (token === undefined) throw new Error('a refresh token was issued in another form');
      const entry = familyEntry(token, value, payload);
      const unit = currentUnitOfWork();
      const read = unit?.presented?.family === token.family ? unit.presented : undefined;
      const isOld = read !== undefined && performance.now() - read.since > FRESH;
      const isOther = isOld && (await store.get(REFRESH_TOKEN, token.family))?.payload !== read.record;
      const revision = isOther ? NEVER : read?.revision;
      const mutation: Mutation = revision === undefined ? { op: 'create', entry } : { op: 'update', entry, revision };
      if (unit === undefined) await store.commit([mutation]);
      else unit.add(mutation);
    },

    /** Reads nothing for a value that the gate did not issue. */
    async find(value) {
      if (OLD.test(value)) return entries.find(value);
      const token = tokens.read(value);
      const since = performance.now();
      if (token === undefined) return undefined;
      const unit = currentUnitOfWork();
      if (unit !== undefined) unit.hasRead = true;
      const entry = await store.get(REFRESH_TOKEN, token.family);
      if (entry === undefined) return undefined;
      const { kind, payload } = findInFamily(entry, value, token);
      const { revision, payload: record } = entry;
      if (unit !== undefined) unit.presented = { kind, family: token.family, revision, record, since, payload };
      // It gives nothing, but its app may always end the connection with it.
      if (kind === 'ahead' && Provider.ctx?.oidc.route !== 'revocation') return undefined;
      // In a unit of work, a used token proceeds as one that is not: its transaction decides.
      return kind === 'used' && unit === undefined ? { ...payload, consumed: payload.iat } : payload;
    },

    /** The update of a family's record consumes the token before. */
    consume: async (value) => (OLD.test(value) ? entries.consume(value) : currentUnitOfWork()?.consumePresented()),

    destroy: (value) => entries.destroy(tokens.read(value)?.family ?? value),
  };
}
