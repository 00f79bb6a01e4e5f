import { SERVERS, type Server } from '../operator/setup/names.ts';
import { type Define, limitOption, readConfig } from './command.ts';

interface SnippetFlags {
  readonly config: string;
  readonly for: Server;
  readonly gate?: string;
  readonly dir?: string;
}

export const define: Define = (command, terminal) => {
  limitOption(command, '--for', SERVERS);
  command.action(async ({ config: file, for: server, gate, dir }: SnippetFlags) => {
    const { configuredSnippet, printed, writeSnippet } = await import('../operator/setup/snippets/configured.ts');
    const { files, notes } = configuredSnippet(await readConfig(file, terminal), server, gate);
    for (const note of notes) terminal.tell(note);
    if (dir === undefined) terminal.print(printed(files));
    else for (const written of await writeSnippet(dir, files)) terminal.say(written);
  });
};
