import { type Define, examples } from './command.ts';
import { EXIT } from './failure.ts';

interface SchemaFlags {
  readonly config: string;
  readonly upstream?: string;
}

export const define: Define = (command, { say, end, environment }) => {
  command
    .command('pull')
    .description('record the schemas of GraphQL upstreams, as the configuration names the files')
    .requiredOption('--config <file>', 'the configuration file')
    .option('--upstream <name>', 'of this upstream only')
    .addHelpText('after', examples('coursegate account pull --config coursegate.yaml'))
    .action(async ({ config: file, upstream }: SchemaFlags) => {
      const { loadConfig } = await import('../config/load.ts');
      const { pullSchemas } = await import('../account/remote/recording.ts');
      for (const line of await pullSchemas(await loadConfig({ file, environment }), upstream)) say(line);
    });

  command
    .command('diff')
    .description('tell how the schemas of GraphQL upstreams differ from what is recorded; exits 1 when they do')
    .requiredOption('--config <file>', 'the configuration file')
    .option('--upstream <name>', 'of this upstream only')
    .addHelpText('after', examples('coursegate account diff --config coursegate.yaml'))
    .action(async ({ config: file, upstream }: SchemaFlags) => {
      const { loadConfig } = await import('../config/load.ts');
      const { compareSchemas } = await import('../account/remote/recording.ts');
      const lines = await compareSchemas(await loadConfig({ file, environment }), upstream);
      for (const line of lines) say(line);
      if (lines.length > 0) end(EXIT.failure);
      else say('Nothing is different.');
    });
};
