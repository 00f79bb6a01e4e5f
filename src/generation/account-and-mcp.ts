import { MappingError, type Mistake } from '../account/connect/mistakes.ts';
import type { Account } from '../account/endpoint.ts';
import type { LoadedConfig } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problems.ts';
import type { Mcp, McpParts } from '../mcp/mcp.ts';
import { protectedResource } from '../oauth/protected-resource.ts';
import { memoryStore } from '../storage/memory/memory-store.ts';
import { memoryCounters } from '../storage/memory-counters.ts';

/** The interfaces offered besides routes. Each is undefined when it is not served. */
export type Interfaces = Awaited<ReturnType<typeof buildInterfaces>>;

export interface InterfaceParts extends Omit<McpParts, 'config' | 'mcp' | 'prepare' | 'onError'> {
  readonly onError: (error: unknown, what: string) => void;
}

/**
 * Builds the Account API and the tools from their files. Rejects with ConfigError, which lists every mistake in both,
 * so that `serve` and `check` report the same. Code of interfaces that are not configured is not loaded.
 */
export async function buildInterfaces(loaded: LoadedConfig, { onError, ...parts }: InterfaceParts) {
  const { config } = loaded;
  const problems: Problem[] = [];
  const account = await accountOf(loaded, parts, problems, onError);
  const mcp = await mcpOf(config, { ...parts, prepare: account?.prepare }, onError);
  if (mcp !== undefined && mcp.findings.length > 0) problems.push(...loaded.mistaken(mcp.findings).problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return { account, mcp };
}

async function accountOf(
  loaded: LoadedConfig,
  { call }: Pick<InterfaceParts, 'call'>,
  problems: Problem[],
  onError: InterfaceParts['onError'],
): Promise<Account | undefined> {
  const { config } = loaded;
  if (config.account === undefined || loaded.accountFiles === undefined) return undefined;
  const { configuredAccount } = await import('../account/configured.ts');
  try {
    return await configuredAccount(loaded, {
      call,
      metadataUrl: protectedResource(config.origin, '').metadataUrl,
      onError: (error, where) => onError(error, `the Account API failed${where === undefined ? '' : ` at ${where}`}`),
    });
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    problems.push(...thrown.mistakes.map(asProblem));
    return undefined;
  }
}

function asProblem({ coordinate, ...mistake }: Mistake): Problem {
  return { ...mistake, path: coordinate };
}

async function mcpOf(
  config: LoadedConfig['config'],
  parts: Omit<McpParts, 'config' | 'mcp' | 'onError'>,
  onError: InterfaceParts['onError'],
): Promise<Mcp | undefined> {
  const { mcp } = config;
  if (mcp === undefined) return undefined;
  const { createMcp } = await import('../mcp/mcp.ts');
  return createMcp({ ...parts, config, mcp, onError: (error) => onError(error, 'a tool failed') });
}

/**
 * Checks the files of the Account API and the tools without keeping anything. Returns what is allowed but most likely
 * unintended. Rejects with ConfigError.
 */
export async function checkInterfaces(loaded: LoadedConfig): Promise<readonly Problem[]> {
  const neverCalled = async () => {
    throw new Error('nothing is called while a configuration is checked');
  };
  const remembered = { store: memoryStore(Date.now), counters: memoryCounters(Date.now), clock: Date.now };
  const parts = { call: neverCalled, audit: () => undefined, onError: () => undefined, remembered };
  const { account } = await buildInterfaces(loaded, parts);
  return (account?.warnings ?? []).map(asProblem);
}
