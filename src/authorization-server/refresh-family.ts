import type { AdapterPayload, KoaContextWithOIDC } from 'oidc-provider';
import { type Entry, jsonEntry, type NewEntry } from '../storage/store.ts';
import { hasHash, type RefreshTokenName, refreshTokenHash } from './refresh-token.ts';

/** The kind of both the records of families and the entries of old tokens. */
export const REFRESH_TOKEN = 'RefreshToken';

/**
 * The record of a family: what oidc-provider knows about its present token, without what follows from the token and the
 * entry, and without the browser session, with which it does not end. It is replaced in place by each refresh, so a connection takes the same space however often it is refreshed.
 */
interface Family extends Partial<AdapterPayload> {
  /** Of the present token. */
  readonly hash: string;
  /** How often the family was refreshed: the generation of the present token. */
  readonly rotations?: number;
  /** The response that issued the present token, sealed under the one before it. */
  readonly answer?: string;
}

/** A presented token in its family. */
export type Found = ReturnType<typeof findInFamily>;

type Entities = KoaContextWithOIDC['oidc']['entities'];

/** The refresh token that this request has replaced. The library's types do not know it. */
export function replacedIn(entities: Entities): Entities['RefreshToken'] {
  return (entities as { RotatedRefreshToken?: Entities['RefreshToken'] }).RotatedRefreshToken;
}

export function familyEntry(
  { family }: RefreshTokenName,
  value: string,
  { jti: _jti, kind: _kind, sessionUid: _session, exp, ...payload }: AdapterPayload,
): NewEntry {
  const { iiat, ...rest } = payload as AdapterPayload & { iiat?: number };
  const record = { ...rest, ...(iiat === payload.iat ? {} : { iiat }), hash: refreshTokenHash(value) };
  return jsonEntry(REFRESH_TOKEN, family, record, exp, { grant: String(payload.grantId) });
}

/**
 * Compares a presented token with the record of its family. A token of the present generation with another value counts
 * as used: the store lost it, and another holder of the token before it went on since.
 */
export function findInFamily({ payload, expiresAt }: Entry, value: string, { generation }: RefreshTokenName) {
  const { hash, answer: _answer, ...record } = JSON.parse(payload) as Family;
  const { rotations = 0, iat } = record;
  const isPresent = generation === rotations && hasHash(value, hash);
  return {
    /** `used`: it was replaced. `ahead`: it was issued after the state that the store has. */
    kind: generation > rotations ? 'ahead' : isPresent ? 'present' : 'used',
    /** That of the present token, which is bound to the same client, scope and key. */
    payload: { iiat: iat, ...record, kind: REFRESH_TOKEN, jti: value, exp: expiresAt } as AdapterPayload,
  };
}

export function withAnswer(entry: NewEntry, answer: string): NewEntry {
  return { ...entry, payload: JSON.stringify({ ...(JSON.parse(entry.payload) as Family), answer }) };
}

export function answerIn({ payload }: Entry): string | undefined {
  return (JSON.parse(payload) as Family).answer;
}
