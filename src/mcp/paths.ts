import type { Config } from '../config/schema.ts';

/** Paths of the endpoint that is open to all callers, and of the one that always requires a token. */
export const MCP_PATHS = { open: '/mcp', member: '/mcp/member' } as const;

/** Whether there is a tool whose calls members approve one by one. */
export function holdsCalls({ mcp }: Pick<Config, 'mcp'>): boolean {
  return mcp?.tools.some(({ approve }) => approve) === true;
}

/** The kind of entry that holds a call until it is approved. It belongs to a grant, and ends with it. */
export const APPROVAL = 'Approval';
