import { counted } from '../http/amounts.ts';
import { readTextFile } from './admin-client.ts';
import { type Define, readConfig, subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface ImportFlags {
  readonly config: string;
  readonly openapi?: string;
  readonly writes: boolean;
}

interface SubmitFlags {
  readonly config: string;
  readonly dir: string;
  readonly url?: string;
  readonly token?: string;
}

export const define: Define = (command, terminal) => {
  subcommand(command, 'import').action(async ({ config: file, openapi, writes }: ImportFlags) => {
    const { proposeFromOpenApi, proposeFromRoutes } = await import('../mcp/import.ts');
    const { readPlainYaml, writePlainYaml } = await import('../config/plain-yaml.ts');
    const { config } = await readConfig(file, terminal);
    const { tools, notes } =
      openapi === undefined
        ? proposeFromRoutes(config.routes)
        : proposeFromOpenApi(readPlainYaml(await readTextFile(openapi)), config.routes, { writes });
    for (const note of notes) terminal.tell(`left out: ${note}`);
    terminal.tell(
      `${counted(tools.length, 'tool')} proposed. Keep the few that help members, and describe them in members' own words.`,
    );
    terminal.print(writePlainYaml({ tools }));
  });

  subcommand(command, 'submit').action(async ({ config: file, dir, url, token }: SubmitFlags) => {
    const { writeSubmission } = await import('../operator/setup/submission/submission.ts');
    const { listedTool } = await import('../operator/doctor/directory/tools.ts');
    const { configuredTools } = await import('../mcp/configured-tools.ts');
    const { schemaCompiler } = await import('../mcp/json-schema.ts');
    const { MCP_PATHS } = await import('../mcp/paths.ts');
    const { config } = await readConfig(file, terminal);
    const at = config.mcp?.signIn === 'never' ? MCP_PATHS.member : MCP_PATHS.open;
    const { written, problems } = await writeSubmission({
      name: config.name,
      url: url ?? config.origin + MCP_PATHS.open,
      published: url ?? config.origin + at,
      token: token ?? terminal.environment.COURSEGATE_DOCTOR_TOKEN,
      tools: configuredTools(config.mcp).map((tool) => listedTool({ ...tool })),
      support: config.pages.support,
      dir,
      signal: terminal.interrupted(),
      compile: schemaCompiler(),
    });
    for (const path of written) terminal.say(path);
    for (const problem of problems) terminal.tell(problem);
    terminal.tell('Read the files, fill in each TODO of reviewer-notes.md, and take the screenshots that it names.');
    if (problems.length > 0) terminal.end(EXIT.failure);
  });
};
