import { counted } from '../http/amounts.ts';
import { readTextFile } from './admin-client.ts';
import { type Define, readConfig, subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { misused } from './failure.ts';
import type { Terminal } from './terminal.ts';

interface ImportFlags {
  readonly config: string;
  readonly school?: string;
  readonly openapi?: string;
  readonly server?: string;
  readonly path?: string;
  readonly scopes?: string;
  readonly writes: boolean;
}

interface DiffFlags {
  readonly config: string;
  readonly school?: string;
  readonly accept: boolean;
}

interface SubmitFlags {
  readonly config: string;
  readonly school?: string;
  readonly dir: string;
  readonly url?: string;
  readonly token?: string;
}

export const define: Define = (command, terminal) => {
  subcommand(command, 'import').action(async (flags: ImportFlags) => {
    const { writePlainYaml } = await import('../config/plain-yaml.ts');
    const { tools, notes } = await proposals(flags, terminal);
    for (const note of notes) terminal.tell(`left out: ${note}`);
    terminal.tell(
      `${counted(tools.length, 'tool')} proposed. Keep the few that help members, and describe them in members' own words.`,
    );
    terminal.print(writePlainYaml({ tools }));
  });

  subcommand(command, 'diff').action(async ({ config: given, school, accept }: DiffFlags) => {
    const { acceptHashes, changedTools } = await import('../mcp/tool-server/changes.ts');
    const { config, file: own } = await readConfig(given, terminal, school);
    const file = school === undefined ? given : own;
    const changes = await changedTools(config, terminal.environment);
    for (const { tool, lines } of changes) for (const line of [`${tool.name}:`, ...lines]) terminal.say(line);
    if (changes.length === 0) {
      terminal.say('No differences.');
      return;
    }
    const isMeant = accept && (!terminal.interactive || (await terminal.confirm('Approve these definitions?', false)));
    const written = isMeant ? await acceptHashes(file, config.mcp?.file, changes) : [];
    for (const path of written)
      terminal.tell(`${path}: the new hashes are written. Now look through descriptions and inputs.`);
    if (written.length === 0) terminal.end(EXIT.failure);
  });

  subcommand(command, 'submit').action(async ({ config: file, school, dir, url, token }: SubmitFlags) => {
    const { writeSubmission } = await import('../operator/setup/submission/submission.ts');
    const { listedTool } = await import('../operator/doctor/directory/tools.ts');
    const { configuredTools } = await import('../mcp/configured-tools.ts');
    const { schemaCompiler } = await import('../mcp/json-schema.ts');
    const { MCP_PATHS } = await import('../mcp/paths.ts');
    const { config } = await readConfig(file, terminal, school);
    const at = config.mcp?.signIn === 'never' ? MCP_PATHS.member : MCP_PATHS.open;
    const { written, problems, notes } = await writeSubmission({
      name: config.name,
      url: url ?? config.origin + MCP_PATHS.open,
      published: url ?? config.origin + at,
      token: token ?? terminal.environment.COURSEGATE_DOCTOR_TOKEN,
      tools: configuredTools(config.mcp).map((tool) => listedTool({ ...tool })),
      pages: config.pages,
      environment: terminal.environment,
      dir,
      signal: terminal.interrupted(),
      compile: schemaCompiler(),
    });
    for (const path of written) terminal.say(path);
    for (const note of [...problems, ...notes]) terminal.tell(note);
    terminal.tell('Read the files, look at the pictures, and fill in each TODO of reviewer-notes.md.');
    if (problems.length > 0) terminal.end(EXIT.failure);
  });
};

async function proposals(
  { config: file, school, openapi, server, path, scopes, writes }: ImportFlags,
  terminal: Terminal,
) {
  const { proposeFromOpenApi, proposeFromRoutes } = await import('../mcp/import.ts');
  const { config } = await readConfig(file, terminal, school);
  if (server !== undefined) {
    if (!path?.startsWith('/') || scopes === undefined || openapi !== undefined)
      throw misused('--server needs --path, which begins with /, and --scopes, and does not go with --openapi.');
    if (config.upstreams[server] === undefined) throw misused(`No upstream is named "${server}".`);
    const { proposeFromServer } = await import('../mcp/tool-server/propose.ts');
    const { withLists } = await import('../mcp/tool-server/lister.ts');
    const place = { upstream: server, path };
    const listed = await withLists(config, terminal.environment, (list) => list(place));
    return proposeFromServer(listed, { ...place, scopes: scopes.split(','), writes });
  }
  if (openapi === undefined) return proposeFromRoutes(config.routes);
  const { readPlainYaml } = await import('../config/plain-yaml.ts');
  return proposeFromOpenApi(readPlainYaml(await readTextFile(openapi)), config.routes, { writes });
}
