import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LoadedConfig } from '../config/load.ts';
import type { SchoolMove, SendStep } from '../storage/copy/move-school.ts';
import type { Secrets } from '../storage/seal.ts';
import { readTextFile } from './admin-client.ts';
import { type Define, readConfig, subcommand } from './command.ts';
import { CommandFailure, misused } from './failure.ts';
import { confirmed, deciding, gateOptions, type OperatorFlags, type SendChange } from './operator.ts';
import { progressOf } from './progress.ts';
import { resealAll } from './secret.ts';

interface Flags extends OperatorFlags {
  readonly config: string;
  /** A file with the secret that encrypts the export. */
  readonly secret: string;
  readonly from: string;
  readonly to: string;
}

/** Characters, as of the other secrets. */
const SHORTEST_SECRET = 32;
/** Milliseconds between two looks at what is being deleted. */
const LOOK_EVERY = 500;
const PACE = { now: Date.now, rest: (milliseconds: number) => pause(milliseconds) };

export const define: Define = (command, terminal) => {
  const about = (verb: string) =>
    deciding(gateOptions(subcommand(command, verb), 'the main file of the running gate', false));
  const show = (what: string) => progressOf(terminal, what);
  const moveOf = async (name: string, flags: Flags, file: string): Promise<Omit<SchoolMove, 'send'>> => {
    const fileSecret = await fileSecretIn(flags.secret);
    const loaded = await readConfig(flags.config, terminal, name);
    const { origin } = loaded.config;
    return { name, origin, file, fileSecret, secrets: await secretsOf(loaded), progress: show, pace: PACE };
  };

  about('export').action(async (name: string, flags: Flags) => {
    const { to } = flags;
    const move = await moveOf(name, flags, to);
    if (existsSync(to)) throw misused(`${to} is there already: name another file.`);
    const change = await confirmed(terminal, flags, `Stop serving the school "${name}" here, and export it?`, true);
    const { exportSchool } = await import('../storage/copy/move-school.ts');
    const entries = await exportSchool({ ...move, send: stepsOf(change) });
    terminal.say(`Exported ${entries} entries to ${to}.`);
    terminal.tell(`The school "${name}" is not served here any more. To go back: coursegate school resume ${name}`);
  });

  about('resume').action(async (name: string, flags: Flags) => {
    const question = `Serve the school "${name}" here again, without what has happened elsewhere since, such as revocations?`;
    await stepsOf(await confirmed(terminal, flags, question, true))('resume', { name });
    terminal.say(`The school "${name}" is served here again.`);
  });

  about('import').action(async (name: string, flags: Flags) => {
    const move = await moveOf(name, flags, flags.from);
    const change = await confirmed(terminal, flags, undefined, true);
    const { importSchool } = await import('../storage/copy/move-school.ts');
    const entries = await importSchool({ ...move, send: stepsOf(change) });
    const { unreadable } = await resealAll((path, more) => change(`/schools/${name}${path}`, more), terminal);
    if (unreadable === 0) await stepsOf(change)('settle', { name });
    terminal.say(`Imported ${entries} entries into the school "${name}".`);
  });

  about('remove').action(async (name: string, flags: Flags) => {
    const question = `Delete everything that the school "${name}" has stored?`;
    const send = stepsOf(await confirmed(terminal, flags, question, true));
    const { id, wait } = await send<{ id: string; wait: number }>('remove', { name });
    await pause(wait);
    const progress = show('Deleting');
    const look = () => send<{ deleted: number; left?: number; done: boolean }>('removal', { id });
    let found = await look();
    for (; !found.done; found = await look()) {
      progress.at(found.deleted);
      if (found.left !== undefined && found.left > 0)
        throw new CommandFailure(
          `${found.left} entries of the school "${name}" are left, since something still writes them.`,
          {
            reason: 'Stop every gate that serves the school. The process deletes them within the hour.',
          },
        );
      await pause(LOOK_EVERY);
    }
    progress.done();
    terminal.say(`Deleted ${found.deleted} entries of the school "${name}". ${found.left ?? 0} are left.`);
  });
};

function stepsOf(change: SendChange): SendStep {
  return (step, given) => change(`/store/${step}`, given);
}

async function fileSecretIn(file: string): Promise<string> {
  const secret = (await readTextFile(file)).trim();
  if (secret.length >= SHORTEST_SECRET) return secret;
  throw misused(`The secret in ${file} is too short: at least ${SHORTEST_SECRET} characters.`, {
    reason: 'Make one: openssl rand -base64 32',
  });
}

/** The secrets of a process. Throws CommandFailure if its store is in memory. */
async function secretsOf({ secret, furtherSecrets, config: { store } }: LoadedConfig): Promise<Secrets> {
  if (secret !== undefined) return [secret, ...furtherSecrets];
  if (store.kind !== 'sqlite') throw new CommandFailure('A store in memory ends with its process.');
  const { secretsBeside } = await import('../storage/sqlite/secret.ts');
  return [...secretsBeside(store.path), ...furtherSecrets];
}
