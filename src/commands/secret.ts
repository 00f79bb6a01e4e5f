import { type AdminClient, adminClient } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure } from './failure.ts';
import { agreed, answer, change, changing, type OperatorFlags } from './operator.ts';
import type { Terminal } from './terminal.ts';

interface Step {
  readonly resealed: number;
  readonly unreadable: number;
  readonly next?: string;
  readonly looked: number;
  readonly total?: number;
}

interface Walked {
  readonly resealed: number;
  readonly unreadable: number;
}

/** Passes through the store. It takes more than one while another replica still writes with the old secret. */
const WALKS = 5;

export const define: Define = (command, terminal) => {
  changing(command.command('reseal'))
    .description('re-encrypt everything in the store with the first secret, so that the others can be removed')
    .addHelpText('after', examples('coursegate secret reseal --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, 'Re-encrypt the whole store with the first secret?');
      const told = await resealAll(gate, terminal, flags);
      answer(terminal, flags, told, () => `${told.resealed} entries re-encrypted\n`);
      if (told.unreadable > 0)
        terminal.tell(`${told.unreadable} entries cannot be decrypted with any of the secrets: they count as absent.`);
      terminal.tell('The other secrets are no longer needed: remove them from the configuration.');
    });

  command
    .command('rotate')
    .description('add a new secret in front of the one that an embedded store generated')
    .requiredOption('--config <file>', 'the configuration file')
    .addHelpText('after', examples('coursegate secret rotate --config coursegate.yaml'))
    .action(async ({ config }: { readonly config: string }) => {
      const path = await ownSecret(config, terminal);
      const { addSecret } = await import('../storage/secret.ts');
      addSecret(path);
      terminal.say(`Added a new secret as the first line of ${path}.`);
      terminal.tell(
        `Restart the gate, then run: coursegate secret reseal --config ${config}, and coursegate secret retire --config ${config}`,
      );
    });

  changing(command.command('retire'))
    .description('remove the old secrets of an embedded store once nothing is encrypted with them')
    .addHelpText('after', examples('coursegate secret retire --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const path = await ownSecret(flags.config, terminal);
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, `Remove all but the first secret from ${path}?`);
      await resealAll(gate, terminal, flags);
      const { retireSecrets } = await import('../storage/secret.ts');
      terminal.say(`Removed ${retireSecrets(path)} old secrets from ${path}.`);
    });
};

/** Path of the secret that the store generated. Throws CommandFailure when the configuration sets a secret. */
async function ownSecret(file: string | undefined, { environment }: Terminal): Promise<string> {
  if (file === undefined) throw new CommandFailure('Specify the configuration: --config FILE.');
  const { loadConfig } = await import('../config/load.ts');
  const { secretPath } = await import('../storage/secret.ts');
  const { config, secret } = await loadConfig({ file, environment });
  if (secret !== undefined || config.store.kind !== 'sqlite') {
    throw new CommandFailure('The secret is set in the configuration.', {
      reason:
        'Set the new one as `secret`, move the old one to `furtherSecrets`, restart the gate, and reseal the store.',
      next: `coursegate secret reseal --config ${file}`,
    });
  }
  return secretPath(config.store.path);
}

/** Throws CommandFailure when a replica still encrypts with another secret. */
async function resealAll(gate: AdminClient, terminal: Terminal, flags: OperatorFlags): Promise<Walked> {
  const { progressOf } = await import('./progress.ts');
  let resealed = 0;
  for (let walk = 0; walk < WALKS; walk += 1) {
    const progress = progressOf(terminal, 'Re-encrypting');
    const found = { resealed: 0, unreadable: 0 };
    let [from, looked, total]: [string | undefined, number, number | undefined] = [undefined, 0, undefined];
    do {
      const step = (await change(gate, '/store/reseal', flags, from === undefined ? {} : { from })) as Step;
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
