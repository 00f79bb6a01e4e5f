import Provider, { type AdapterPayload } from 'oidc-provider';
import type { Mutation, References, Store } from '../storage/store.ts';
import { familyEntry, findInFamily, REFRESH_TOKEN } from './refresh-family.ts';
import type { RefreshTokens } from './refresh-token.ts';
import { currentUnitOfWork } from './unit-of-work.ts';

/** Reads and writes the records of refresh tokens for oidc-provider. */
export function refreshRecords(store: Store, tokens: RefreshTokens) {
  return {
    /** Updates the record of the family that was read in this unit of work, which fails if it has changed since. */
    async save(value: string, payload: AdapterPayload, references: References): Promise<void> {
      const token = tokens.read(value);
      if (token === undefined) throw new Error('a refresh token was issued in another form');
      const entry = familyEntry(token, value, payload, references);
      const unit = currentUnitOfWork();
      const revision = unit?.presented?.family === token.family ? unit.presented.revision : undefined;
      const mutation: Mutation = revision === undefined ? { op: 'create', entry } : { op: 'update', entry, revision };
      if (unit === undefined) await store.commit([mutation]);
      else unit.add(mutation);
    },

    /** Reads nothing for a value that the gate did not issue. */
    async find(value: string): Promise<AdapterPayload | undefined> {
      const token = tokens.read(value);
      const entry = token && (await store.get(REFRESH_TOKEN, token.family));
      if (token === undefined || entry === undefined) return undefined;
      const { kind, payload } = findInFamily(entry, value, token);
      const unit = currentUnitOfWork();
      if (unit !== undefined) unit.presented = { kind, family: token.family, revision: entry.revision, payload };
      // It gives nothing, but its app may always end the connection with it.
      return kind === 'ahead' && Provider.ctx?.oidc.route !== 'revocation' ? undefined : payload;
    },

    /** The id of the entry in which a token is stored. */
    idOf: (value: string): string => tokens.read(value)?.family ?? value,
  };
}
