/**
 * What a DPoP proof may be signed with (RFC 9449 §4.3), at the token endpoint and at every door alike. `Ed25519` and
 * `EdDSA` are the new and the old name of one algorithm (RFC 9864 §2.2).
 */
export const DPOP_ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'] as const;
