import { readFile } from 'node:fs/promises';
import { type Define, examples } from './command.ts';

interface ImportFlags {
  readonly config: string;
  readonly openapi?: string;
  readonly writes: boolean;
}

export const define: Define = (command, { tell, print, environment }) => {
  command
    .command('import')
    .description('propose tools as YAML for mcp.file, from an OpenAPI file or from the routes; changes nothing')
    .requiredOption('--config <file>', 'the configuration file; its routes determine the scopes a tool needs')
    .option('--openapi <file>', 'an OpenAPI 3 document, YAML or JSON; by default, tools are proposed from the routes')
    .option('--writes', 'also propose operations that may change data', false)
    .addHelpText('after', examples('coursegate mcp import --config coursegate.yaml --openapi openapi.yaml'))
    .action(async ({ config: file, openapi, writes }: ImportFlags) => {
      const { loadConfig } = await import('../config/load.ts');
      const { proposeFromOpenApi, proposeFromRoutes } = await import('../mcp/import.ts');
      const { readPlainYaml, writePlainYaml } = await import('../config/plain-yaml.ts');
      const { config } = await loadConfig({ file, environment });
      const { tools, notes } =
        openapi === undefined
          ? proposeFromRoutes(config.routes)
          : proposeFromOpenApi(readPlainYaml(await readFile(openapi, 'utf8')), config.routes, { writes });
      for (const note of notes) tell(`left out: ${note}`);
      tell(`${tools.length} tools proposed. Keep the few that help members, and describe them in members' own words.`);
      print(writePlainYaml({ tools }));
    });
};
