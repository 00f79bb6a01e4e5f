import { z } from 'zod';

/** With a key pair: `none` and the HMACs are no choice (RFC 8725 §3.1, §3.2). */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** How tokens of others may be signed. */
export const signingAlgorithms = z
  .array(z.enum(ASYMMETRIC))
  .min(1)
  .default(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'])
  .meta({ description: 'How the token may be signed (RFC 7518 §3.1), with a key pair.' });
