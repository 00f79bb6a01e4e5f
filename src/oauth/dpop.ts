/**
 * The signature algorithms of DPoP proofs (RFC 9449 section 4.3), at the token endpoint and at protected resources.
 * `Ed25519` and `EdDSA` are the new and the old name of one algorithm (RFC 9864 section 2.2).
 */
export const DPOP_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'] as const;
