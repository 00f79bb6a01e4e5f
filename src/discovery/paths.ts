/** Where the documents about the service stand. */
export const DISCOVERY_PATHS = { openapi: '/openapi.json', authMd: '/auth.md' } as const;
