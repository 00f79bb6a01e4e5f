import { type Define, readConfig, withExamples } from './command.ts';

export const define: Define = (command, terminal) => {
  withExamples(command, '--config coursegate.yaml --for nginx')
    .requiredOption('--config <file>', 'the configuration file')
    .requiredOption('--for <server>', 'nginx, apache, caddy or traefik')
    .option('--gate <host:port>', 'where the web server reaches the gate; by default, the address it listens on')
    .action(async ({ config: file, for: server, gate }: { config: string; for: string; gate?: string }) => {
      const { configuredSnippet } = await import('../tools/setup/snippets/configured.ts');
      const { config } = await readConfig(file, terminal);
      const { text, notes } = configuredSnippet(config, server, gate);
      for (const note of notes) terminal.tell(note);
      terminal.print(text);
    });
};
