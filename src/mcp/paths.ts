/** Where it is: the endpoint for everybody, and the one that asks for a token first. */
export const MCP_PATHS = { open: '/mcp', member: '/mcp/member' } as const;
