/** Paths of the documents about the service. */
export const DISCOVERY_PATHS = { openapi: '/openapi.json', authMd: '/auth.md' } as const;
