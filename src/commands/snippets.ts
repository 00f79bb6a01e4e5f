import type { LoadedConfig } from '../config/load.ts';
import { SERVERS, type Server } from '../operator/setup/names.ts';
import { type Define, limitOption, readConfig, readProcess } from './command.ts';
import type { Terminal } from './terminal.ts';

interface SnippetFlags {
  readonly config: string;
  readonly school?: string;
  readonly for: Server;
  readonly gate?: string;
  readonly dir?: string;
}

export const define: Define = (command, terminal) => {
  limitOption(command, '--for', SERVERS);
  command.action(async ({ config: file, school, for: server, gate, dir }: SnippetFlags) => {
    const { configuredSnippet, printed, writeSnippet } = await import('../operator/setup/snippets/configured.ts');
    const loaded = await readAll(file, terminal, school);
    const { files, notes } = configuredSnippet(loaded, server, gate);
    for (const note of notes) terminal.tell(note);
    if (dir === undefined) terminal.print(printed(files));
    else for (const written of await writeSnippet(dir, files)) terminal.say(written);
  });
};

/** The configuration of a school, or of all that the file lists. */
async function readAll(file: string, terminal: Terminal, school: string | undefined): Promise<readonly LoadedConfig[]> {
  const { schools } = await readProcess(file, terminal);
  if (schools === undefined || school !== undefined) return [await readConfig(file, terminal, school)];
  const all: LoadedConfig[] = [];
  for (const name of schools.files.keys()) all.push(await schools.load(name));
  return all;
}
