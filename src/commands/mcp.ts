import { counted } from '../http/amounts.ts';
import { readTextFile } from './admin-client.ts';
import { type Define, readConfig, subcommand } from './command.ts';

interface ImportFlags {
  readonly config: string;
  readonly openapi?: string;
  readonly writes: boolean;
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
};
