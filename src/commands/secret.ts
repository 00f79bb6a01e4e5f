import { programName } from '../operator/program-name.ts';
import { shellWord } from '../operator/shell-word.ts';
import { type Define, readProcess, subcommand } from './command.ts';
import { CommandFailure, misused } from './failure.ts';
import { answer, changing, confirmed, type OperatorFlags, type SendChange } from './operator.ts';
import type { Terminal } from './terminal.ts';

interface Step {
  readonly resealed: number;
  readonly unreadable: number;
  readonly next?: string;
  readonly looked: number;
  readonly total?: number;
}

/** Passes through the store. It takes more than one while another replica still writes with the old secret. */
const WALKS = 5;

export const define: Define = (command, terminal) => {
  changing(command, 'reseal').action(async (flags: OperatorFlags) => {
    const change = await confirmed(terminal, flags, 'Re-encrypt the whole store with the first secret?', true);
    const done = await resealAll(change, terminal);
    answer(terminal, flags, done, () => `${done.resealed} entries re-encrypted\n`);
    if (done.unreadable > 0)
      terminal.tell(`${done.unreadable} entries cannot be decrypted with any of the secrets: they count as absent.`);
    terminal.tell('The other secrets are no longer needed: remove them from the configuration.');
  });

  subcommand(command, 'rotate').action(async ({ config }: { readonly config: string }) => {
    const path = await ownSecret(config, terminal);
    const { addSecret } = await import('../storage/sqlite/secret.ts');
    addSecret(path);
    terminal.say(`Added a new secret as the first line of ${path}.`);
    terminal.tell(
      `Restart the gate, then run: ${['reseal', 'retire'].map((verb) => `${programName()} secret ${verb} --config ${shellWord(config)}`).join(', and ')}`,
    );
  });

  changing(command, 'retire').action(async (flags: OperatorFlags) => {
    if (flags.school !== undefined) throw misused('The secret is that of all schools: leave out --school.');
    const path = await ownSecret(flags.config, terminal);
    const change = await confirmed(terminal, flags, `Remove all but the first secret from ${path}?`, true);
    await resealAll(change, terminal);
    const { retireSecrets } = await import('../storage/sqlite/secret.ts');
    terminal.say(`Removed ${retireSecrets(path)} old secrets from ${path}.`);
  });
};

/** Path of the secret that the store generated. Throws CommandFailure when the configuration sets a secret. */
async function ownSecret(file: string | undefined, terminal: Terminal): Promise<string> {
  if (file === undefined) throw misused('Specify the configuration with --config.');
  const { secretPath } = await import('../storage/sqlite/secret.ts');
  const { config, secret } = await readProcess(file, terminal);
  if (secret !== undefined || config.store.kind !== 'sqlite') {
    throw new CommandFailure('The secret is set in the configuration.', {
      reason:
        'Set the new one as `secret`, move the old one to `furtherSecrets`, restart the gate, and reseal the store.',
      next: `coursegate secret reseal --config ${shellWord(file)}`,
    });
  }
  return secretPath(config.store.path);
}

/** Throws CommandFailure when a replica still encrypts with another secret. */
export async function resealAll(
  change: SendChange,
  terminal: Terminal,
): Promise<Pick<Step, 'resealed' | 'unreadable'>> {
  const { progressOf } = await import('./progress.ts');
  let resealed = 0;
  for (let walk = 0; walk < WALKS; walk += 1) {
    const progress = progressOf(terminal, 'Re-encrypting');
    const found = { resealed: 0, unreadable: 0 };
    let [from, looked, total]: [string | undefined, number, number | undefined] = [undefined, 0, undefined];
    do {
      const step: Step = await change('/store/reseal', { from });
      found.resealed += step.resealed;
      found.unreadable += step.unreadable;
      looked += step.looked;
      total ??= step.total;
      progress.at(looked, total);
      from = step.next;
    } while (from !== undefined);
    progress.done();
    resealed += found.resealed;
    if (found.resealed === 0) return { ...found, resealed };
  }
  throw new CommandFailure('Another replica still encrypts with a different secret.', {
    reason: 'Every replica must have the same first secret before the others can be removed.',
    next: 'coursegate secret reseal --help',
  });
}
