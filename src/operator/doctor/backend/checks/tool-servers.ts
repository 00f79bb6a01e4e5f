import { checkEach, failure } from '../../finding.ts';
import { Unavailable, wordsFor } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';

/** Whether the MCP servers of upstreams define their tools as the operator has approved. */
export const TOOL_SERVERS = backendChecks(({ mcp }) => mcp?.tools.some(({ server }) => server !== undefined) === true, {
  async 'upstream.tools'({ changedTools }) {
    const names = await changedTools?.().catch((thrown: unknown) => {
      throw new Unavailable(wordsFor(thrown).replace(/\.$/, ''));
    });
    if (names === undefined) throw new Unavailable('nothing lists the tools');
    return checkEach('every tool is defined as it was approved', names, async (name) => failure(`${name} has changed`));
  },
});
