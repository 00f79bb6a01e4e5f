import { type Define, readConfig, subcommand, withExits } from './command.ts';
import { EXIT, type ExitNotes } from './exit-codes.ts';

interface SchemaFlags {
  readonly config: string;
  readonly upstream?: string;
}

export const define: Define = (command, terminal) => {
  const schemas = (
    name: string,
    description: string,
    act: (flags: SchemaFlags) => Promise<void>,
    exits: ExitNotes = {},
  ) =>
    withExits(subcommand(command, name, description, '--config coursegate.yaml'), exits)
      .requiredOption('--config <file>', 'the configuration file')
      .option('--upstream <name>', 'only this upstream')
      .action(act);

  schemas(
    'pull',
    'save the schema of each GraphQL upstream to the file that the configuration names',
    async ({ config, upstream }) => {
      const { pullSchemas } = await import('../account/remote/recording.ts');
      for (const line of await pullSchemas(await readConfig(config, terminal), upstream)) terminal.say(line);
    },
  );

  schemas(
    'diff',
    'compare the schemas of GraphQL upstreams with the saved files',
    async ({ config, upstream }) => {
      const { compareSchemas } = await import('../account/remote/recording.ts');
      const lines = await compareSchemas(await readConfig(config, terminal), upstream);
      for (const line of lines) terminal.say(line);
      if (lines.length > 0) terminal.end(EXIT.failure);
      else terminal.say('No differences.');
    },
    { [EXIT.ok]: 'no differences', [EXIT.failure]: 'the schemas differ' },
  );
};
