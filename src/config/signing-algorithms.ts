import { z } from 'zod';

/** Asymmetric algorithms only: `none` and HMAC are never accepted (RFC 8725 sections 3.1 and 3.2). */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** Algorithms accepted on tokens that others sign. */
export const signingAlgorithms = z
  .array(z.enum(ASYMMETRIC))
  .min(1)
  .default(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])
  .meta({ description: 'Signature algorithms that are accepted (RFC 7518 section 3.1).' });
