import { type Define, examples } from './command.ts';

export const define: Define = (command, { tell, print, environment }) => {
  command
    .requiredOption('--config <file>', 'the configuration file')
    .requiredOption('--for <server>', 'nginx, apache, caddy or traefik')
    .option('--gate <host:port>', 'where the web server reaches the gate; by default, the address it listens on')
    .addHelpText('after', examples('coursegate snippets --config coursegate.yaml --for nginx'))
    .action(async ({ config: file, for: server, gate }: { config: string; for: string; gate?: string }) => {
      const { loadConfig } = await import('../config/load.ts');
      const { configuredSnippet } = await import('../tools/setup/snippets/configured.ts');
      const { config } = await loadConfig({ file, environment });
      const { text, notes } = configuredSnippet(config, server, gate);
      for (const note of notes) tell(note);
      print(text);
    });
};
