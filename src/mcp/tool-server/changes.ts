import { readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Config, ToolConfig } from '../../config/schema.ts';
import type { Listed } from './connect.ts';
import { hashOf } from './definition.ts';
import { type ListTools, withLists } from './lister.ts';
import { proposalOf } from './propose.ts';

/** A tool that a server no longer defines as it was approved. */
interface Change {
  readonly tool: ToolConfig;
  /** Undefined if it is not offered any more, or twice. */
  readonly hash: string | undefined;
  /** What the configuration has (`-`), and what would be proposed now (`+`). */
  readonly lines: readonly string[];
}

/** Compares each tool of an MCP server with what the server lists. Rejects with words for the operator. */
export async function changedTools(
  config: Config,
  environment: Readonly<NodeJS.ProcessEnv>,
): Promise<readonly Change[]> {
  return withLists(config, environment, (list) => compare(config.mcp?.tools ?? [], list));
}

async function compare(tools: readonly ToolConfig[], list: ListTools): Promise<readonly Change[]> {
  const lists = new Map<string, Listed>();
  const changes: Change[] = [];
  for (const tool of tools) {
    const { server } = tool;
    if (server === undefined) continue;
    const place = JSON.stringify([server.upstream, server.path]);
    const listed = lists.get(place) ?? (await list(server));
    lists.set(place, listed);
    const definition = listed.get(server.tool);
    const hash = definition && hashOf(definition);
    if (definition === undefined || hash === undefined) {
      const lines = [`  ${server.upstream} no longer offers ${server.tool}, or offers it twice`];
      changes.push({ tool, hash, lines });
      continue;
    }
    if (hash === server.hash) continue;
    const { title, description, input, output, annotations } = tool;
    const had = linesOf({ title, description, input, output, annotations, hash: server.hash });
    const now = await proposalOf(definition, { ...server, scopes: [] });
    const has = linesOf({ ...now, name: undefined, scopes: undefined, server: undefined, hash });
    const lines = [
      ...had.filter((line) => !has.includes(line)).map((line) => `- ${line}`),
      ...has.filter((line) => !had.includes(line)).map((line) => `+ ${line}`),
    ];
    changes.push({ tool, hash, lines });
  }
  return changes;
}

/** A line for each value, with the names that lead to it, so that equal lines are equal in meaning. */
function linesOf(value: unknown, path = ''): readonly string[] {
  const inner = Object.entries(typeof value === 'object' && value !== null ? value : {});
  if (value === undefined) return [];
  if (inner.length === 0) return [`${path}: ${JSON.stringify(value)}`];
  return inner.flatMap(([name, item]) => linesOf(item, path === '' ? name : `${path}.${name}`));
}

/**
 * Writes the new hashes in place of the old ones, and nothing else, into a configuration and its tools file. Returns the
 * files that it has written.
 */
export async function acceptHashes(
  file: string,
  tools: string | undefined,
  changes: readonly Change[],
): Promise<readonly string[]> {
  const written: string[] = [];
  for (const path of [file, ...(tools === undefined ? [] : [resolve(dirname(file), tools)])]) {
    const text = await readFile(path, 'utf8');
    const accepted = changes.reduce(
      (so, { tool, hash }) => (hash === undefined ? so : so.replaceAll(tool.server?.hash ?? hash, hash)),
      text,
    );
    if (accepted === text) continue;
    await writeFile(path, accepted);
    written.push(path);
  }
  return written;
}
