import type { Config } from '../../config/schema.ts';
import { ANONYMOUS } from '../../oauth/principal.ts';
import { createCallUpstream } from '../../upstream/call.ts';
import { createPools } from '../../upstream/pools.ts';
import { connect, type Listed } from './connect.ts';
import { endSession, type ServerCaller } from './exchange.ts';

/** Lists the tools of an MCP endpoint. Throws an error with words for the operator. */
export type ListTools = (place: Pick<ServerCaller, 'upstream' | 'path'>) => Promise<Listed>;

/** Milliseconds. */
const PATIENCE = 30_000;

/**
 * Lists tools without a member, since a definition is not member data, on connections like those of the gate.
 * @param environment may have the `Authorization` for an upstream, as in COURSEGATE_AUTHORIZATION_WORDPRESS
 */
export async function withLists<T>(
  config: Config,
  environment: Readonly<NodeJS.ProcessEnv>,
  work: (list: ListTools) => Promise<T>,
): Promise<T> {
  const pools = createPools(config.upstreams);
  const send = createCallUpstream({ ...config, pools, identity: () => ({}) });
  const call: ServerCaller['call'] = ({ principal: _, ...request }) => {
    const authorization = environment[variableFor(request.upstream)];
    const headers = { ...request.headers, ...(authorization === undefined ? {} : { authorization }) };
    return send({ ...request, headers });
  };
  const list: ListTools = async ({ upstream, path }) => {
    const caller = { upstream, path, call, principal: ANONYMOUS, signal: AbortSignal.timeout(PATIENCE) };
    const made = await connect(caller).catch((cause: unknown) => {
      throw new Error(`The MCP server of ${upstream} at ${path} cannot be listed.`, { cause });
    });
    if ('failed' in made)
      throw new Error(
        `The MCP server of ${upstream} at ${path} does not list its tools. If it asks who lists them, set ${variableFor(upstream)} to a value of Authorization that it accepts.`,
      );
    await endSession(caller, made.session);
    return made.tools;
  };
  return work(list).finally(() => pools.close());
}

function variableFor(upstream: string): string {
  return `COURSEGATE_AUTHORIZATION_${upstream.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}
