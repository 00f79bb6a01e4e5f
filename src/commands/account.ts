import { type Define, readConfig, subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';

interface SchemaFlags {
  readonly config: string;
  readonly school?: string;
  readonly upstream?: string;
}

export const define: Define = (command, terminal) => {
  subcommand(command, 'pull').action(async ({ config, school, upstream }: SchemaFlags) => {
    const { pullSchemas } = await import('../account/remote/recording.ts');
    for (const line of await pullSchemas(await readConfig(config, terminal, school), upstream)) terminal.say(line);
  });

  subcommand(command, 'diff').action(async ({ config, school, upstream }: SchemaFlags) => {
    const { compareSchemas } = await import('../account/remote/recording.ts');
    const lines = await compareSchemas(await readConfig(config, terminal, school), upstream);
    for (const line of lines) terminal.say(line);
    if (lines.length > 0) terminal.end(EXIT.failure);
    else terminal.say('No differences.');
  });
};
