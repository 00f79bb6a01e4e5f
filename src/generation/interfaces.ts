import type { LoadedConfig } from '../config/load.ts';
import { ConfigError, type Problem } from '../config/problems.ts';
import type { McpFoundation, McpUses } from '../mcp/part.ts';
import { NO_ROLES } from '../roles/roles.ts';
import { memoryStore } from '../storage/memory/memory-store.ts';
import { memoryCounters } from '../storage/memory-counters.ts';

/** The parts that apps call besides routes. Each is undefined when it is not served. */
export type Interfaces = Awaited<ReturnType<typeof openInterfaces>>;

/**
 * Opens the Account API and the tools. Rejects with ConfigError, which lists every mistake in the files of both, so
 * that `serve` and `check` report the same. Code of what is not configured is not loaded.
 */
export async function openInterfaces(foundation: McpFoundation, loaded: LoadedConfig, uses: Omit<McpUses, 'prepare'>) {
  const { config } = loaded;
  const problems: Problem[] = [];
  const collect = async <Opened>(open: () => Promise<Opened>): Promise<Opened | undefined> => {
    try {
      return await open();
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown;
      problems.push(...thrown.problems);
      return undefined;
    }
  };
  const account =
    config.account &&
    (await collect(async () => (await import('../account/part.ts')).openAccount(foundation, loaded, uses)));
  const mcp =
    config.mcp &&
    (await collect(async () => {
      const { openMcp } = await import('../mcp/part.ts');
      return openMcp(foundation, loaded, { ...uses, prepare: account?.prepare });
    }));
  if (problems.length > 0) throw new ConfigError(problems);
  return { account, mcp };
}

/**
 * Checks the files of both without keeping anything. Returns what is allowed but most likely unintended. Rejects with
 * ConfigError.
 */
export async function checkInterfaces(loaded: LoadedConfig): Promise<readonly Problem[]> {
  const call = async () => {
    throw new Error('nothing is called while a configuration is checked');
  };
  const clock = Date.now;
  const stored = { store: memoryStore(clock), counters: memoryCounters(clock), clock };
  const foundation = { ...stored, secret: '', log: { error() {} } };
  const { account, mcp } = await openInterfaces(foundation, loaded, {
    call,
    hold: call,
    rolesOf: NO_ROLES.of,
    audit() {},
  });
  const { toolWarnings } = await import('../mcp/tool-warnings.ts');
  const names = loaded.config.mcp?.tools.map(({ name }) => name) ?? [];
  return [...(account?.warnings ?? []), ...loaded.mistaken(toolWarnings(mcp?.tools ?? [], names)).problems];
}
