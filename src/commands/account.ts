import { type Define, examples } from './command.ts';
import { EXIT } from './failure.ts';

interface SchemaFlags {
  readonly config: string;
  readonly upstream?: string;
}

export const define: Define = (command, { say, end, environment }) => {
  command
    .command('pull')
    .description('save the schema of each GraphQL upstream to the file that the configuration names')
    .requiredOption('--config <file>', 'the configuration file')
    .option('--upstream <name>', 'only this upstream')
    .addHelpText('after', examples('coursegate account pull --config coursegate.yaml'))
    .action(async ({ config: file, upstream }: SchemaFlags) => {
      const { loadConfig } = await import('../config/load.ts');
      const { pullSchemas } = await import('../account/remote/recording.ts');
      for (const line of await pullSchemas(await loadConfig({ file, environment }), upstream)) say(line);
    });

  command
    .command('diff')
    .description('compare the schemas of GraphQL upstreams with the saved files; exits 1 if they differ')
    .requiredOption('--config <file>', 'the configuration file')
    .option('--upstream <name>', 'only this upstream')
    .addHelpText('after', examples('coursegate account diff --config coursegate.yaml'))
    .action(async ({ config: file, upstream }: SchemaFlags) => {
      const { loadConfig } = await import('../config/load.ts');
      const { compareSchemas } = await import('../account/remote/recording.ts');
      const lines = await compareSchemas(await loadConfig({ file, environment }), upstream);
      for (const line of lines) say(line);
      if (lines.length > 0) end(EXIT.failure);
      else say('No differences.');
    });
};
