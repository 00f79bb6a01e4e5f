/** Paths of the endpoint that is open to all callers, and of the one that always requires a token. */
export const MCP_PATHS = { open: '/mcp', member: '/mcp/member' } as const;
