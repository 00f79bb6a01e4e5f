import { Option } from 'commander';
import { SERVERS, type Server } from '../operator/setup/names.ts';
import { type Define, readConfig } from './command.ts';

interface SnippetFlags {
  readonly config: string;
  readonly for: Server;
  readonly gate?: string;
  readonly dir?: string;
}

export const define: Define = (command, terminal) => {
  command
    .requiredOption('--config <file>', 'the configuration file')
    .addOption(
      new Option(
        '--for <server>',
        'your web server, or with -auth and after it a gateway that asks coursegate and forwards requests itself',
      )
        .choices(SERVERS)
        .makeOptionMandatory(),
    )
    .option('--gate <host:port>', 'where the web server reaches the gate; by default, the address it listens on')
    .option('--dir <folder>', 'write the files to this folder instead of printing them')
    .action(async ({ config: file, for: server, gate, dir }: SnippetFlags) => {
      const { configuredSnippet, printed, writeSnippet } = await import('../operator/setup/snippets/configured.ts');
      const { files, notes } = configuredSnippet(await readConfig(file, terminal), server, gate);
      for (const note of notes) terminal.tell(note);
      if (dir === undefined) terminal.print(printed(files));
      else for (const written of await writeSnippet(dir, files)) terminal.say(written);
    });
};
