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

/** Walks through the store again while replicas may still have written with the old secret. */
const WALKS = 5;

export const define: Define = (command, terminal) => {
  changing(command.command('reseal'))
    .description('seal everything in the store with the first secret, so that the others can be taken away')
    .addHelpText('after', examples('coursegate secret reseal --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, 'Seal the whole store with the first secret?');
      const told = await resealAll(gate, terminal, flags);
      answer(terminal, flags, told, () => `${told.resealed} entries sealed anew\n`);
      if (told.unreadable > 0)
        terminal.tell(`${told.unreadable} entries open with none of the secrets: they count as absent.`);
      terminal.tell('The other secrets open nothing here any more: take them out of the configuration.');
    });

  command
    .command('rotate')
    .description('put a new secret before the one that an embedded store made for itself')
    .requiredOption('--config <file>', 'the configuration file')
    .addHelpText('after', examples('coursegate secret rotate --config coursegate.yaml'))
    .action(async ({ config }: { readonly config: string }) => {
      const path = await ownSecret(config, terminal);
      const { addSecret } = await import('../storage/secret.ts');
      addSecret(path);
      terminal.say(`A new secret is the first line of ${path}.`);
      terminal.tell(
        `Restart the gate; then: coursegate secret reseal --config ${config}, and coursegate secret retire --config ${config}`,
      );
    });

  changing(command.command('retire'))
    .description('take the old secrets of an embedded store away, when nothing is sealed with them any more')
    .addHelpText('after', examples('coursegate secret retire --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const path = await ownSecret(flags.config, terminal);
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, `Take all but the first secret out of ${path}?`);
      await resealAll(gate, terminal, flags);
      const { retireSecrets } = await import('../storage/secret.ts');
      terminal.say(`${retireSecrets(path)} old secrets are gone from ${path}.`);
    });
};

/** Out: the file of the secret that the store made. Throws CommandFailure where the configuration names one. */
async function ownSecret(file: string | undefined, { environment }: Terminal): Promise<string> {
  if (file === undefined) throw new CommandFailure('Name the configuration: --config FILE.');
  const { loadConfig } = await import('../config/load.ts');
  const { secretPath } = await import('../storage/secret.ts');
  const { config, secret } = await loadConfig({ file, environment });
  if (secret !== undefined || config.store.kind !== 'sqlite') {
    throw new CommandFailure('The secret is one that the configuration names.', {
      reason:
        'Name the new one as `secret` and the old one in `furtherSecrets`, restart the gate, and seal the store with it.',
      next: `coursegate secret reseal --config ${file}`,
    });
  }
  return secretPath(config.store.path);
}

/** Throws CommandFailure when another secret is still being sealed with. */
async function resealAll(gate: AdminClient, terminal: Terminal, flags: OperatorFlags): Promise<Walked> {
  const { progressOf } = await import('./progress.ts');
  let resealed = 0;
  for (let walk = 0; walk < WALKS; walk += 1) {
    const progress = progressOf(terminal, 'Sealing');
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
  throw new CommandFailure('Something still seals with another secret than the first of this gate.', {
    reason: 'Every replica must have the same first secret before the others can go.',
    next: 'coursegate secret reseal --help',
  });
}
