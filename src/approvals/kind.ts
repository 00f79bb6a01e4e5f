import type { Config } from '../config/schema.ts';

/** The kind of entry that holds a call until it is approved. It belongs to a grant, and ends with it. */
export const APPROVAL = 'Approval';

/** Whether there is a tool or a route whose calls members approve one by one. */
export function holdsCalls({ mcp, routes }: Pick<Config, 'mcp' | 'routes'>): boolean {
  return routes.some(({ approve }) => approve) || mcp?.tools.some(({ approve }) => approve) === true;
}
