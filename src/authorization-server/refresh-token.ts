import { createHash, createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a refresh token says about itself. */
export interface RefreshTokenName {
  /** The chain of tokens that began with one code: the id of its record. */
  readonly family: string;
  /** How many tokens of the family came before it. */
  readonly generation: number;
}

/** Issues refresh tokens, and reads those that this gate issued. */
export type RefreshTokens = ReturnType<typeof refreshTokens>;

const BYTES = { family: 16, generation: 4, random: 18, mac: 16 };
const NAMED = BYTES.family + BYTES.generation;
const SIGNED = NAMED + BYTES.random;

/** A whole number of base64url groups: each value has one spelling. */
const SHAPE = /^r1_[\w-]{72}$/;

/**
 * The form of a refresh token: the marker `r1_`, then base64url of family, generation, random part, and a MAC of all
 * three. The MAC proves that the gate issued the token, so a made-up one costs no look-up in the store, and only someone
 * who has held a token of a family can be taken for its user. It does not prove that the token is the present one: the
 * store has the hash of that.
 */
export function refreshTokens(key: KeyObject) {
  const macOf = (signed: Uint8Array) => createHmac('sha256', key).update(signed).digest().subarray(0, BYTES.mac);

  return {
    /** @param family - undefined: a new one */
    issue(generation: number, family?: string): string {
      const signed = randomBytes(SIGNED);
      if (family !== undefined) signed.write(family, 'base64url');
      signed.writeUInt32BE(generation, BYTES.family);
      return `r1_${Buffer.concat([signed, macOf(signed)]).toString('base64url')}`;
    },

    /** Undefined if the gate did not issue it in this form. */
    read(value: string): RefreshTokenName | undefined {
      if (!SHAPE.test(value)) return undefined;
      const bytes = Buffer.from(value.slice(3), 'base64url');
      const signed = bytes.subarray(0, SIGNED);
      if (!timingSafeEqual(macOf(signed), bytes.subarray(SIGNED))) return undefined;
      const family = bytes.toString('base64url', 0, BYTES.family);
      return { family, generation: bytes.readUInt32BE(BYTES.family) };
    },
  };
}

/** The hash by which the store knows the present token of a family. */
export function refreshTokenHash(value: string): string {
  return createHash('sha256').update(value).digest().toString('base64url', 0, 16);
}

export function hasHash(value: string, hash: string): boolean {
  return timingSafeEqual(Buffer.from(refreshTokenHash(value)), Buffer.from(hash));
}
