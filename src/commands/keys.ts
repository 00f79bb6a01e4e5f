import { readFile } from 'node:fs/promises';
import { adminClient } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { agreed, answer, asking, change, changing, type OperatorFlags, table, when } from './operator.ts';

interface KeyView {
  readonly kid: string;
  readonly alg: string;
  readonly state: string;
  readonly since: string;
  readonly until?: string;
  readonly public_key: object;
}

interface Keys {
  readonly keys: readonly KeyView[];
}

export const define: Define = (command, terminal) => {
  const show = (flags: OperatorFlags, told: unknown) => {
    const { keys } = told as Keys;
    answer(terminal, flags, keys, () =>
      table(
        terminal,
        ['KEY', 'ALG', 'STATE', 'SINCE', 'UNTIL'],
        keys.map(({ kid, alg, state, since, until }) => [kid, alg, state, when(since), when(until)]),
      ),
    );
  };

  asking(command.command('list'))
    .description('list the keys that sign ID tokens and assertions')
    .addHelpText('after', examples('coursegate keys list --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      show(flags, await gate.command('GET', '/keys'));
    });

  changing(command.command('rotate'))
    .description('sign with the next key; signatures of the current key stay valid for a day')
    .option(
      '--now',
      'even if the next key was published less than an hour ago and verifiers may not have it yet',
      false,
    )
    .addHelpText('after', examples('coursegate keys rotate --config coursegate.yaml --reason "yearly"'))
    .action(async ({ now, ...flags }: OperatorFlags & { readonly now: boolean }) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, 'Sign with the next key from now on?');
      show(flags, await change(gate, '/keys/rotate', flags, now ? { now } : {}));
    });

  changing(command.command('import'))
    .description('use your own key as the next one: an EC P-256 private key as PEM, JWK or JWKS')
    .argument('<file>', 'the key file, or - for standard input')
    .addHelpText(
      'after',
      examples(
        'coursegate keys import --config coursegate.yaml key.pem',
        'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | coursegate keys import --config coursegate.yaml -',
      ),
    )
    .action(async (file: string, flags: OperatorFlags) => {
      const key = keyIn(file === '-' ? await textOf(terminal.input) : await readKeyFile(file));
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, 'Replace the next signing key with this one?');
      show(flags, await change(gate, '/keys/import', flags, { key }));
    });

  changing(command.command('remove'))
    .description('remove a compromised key at once; everything it signed becomes invalid')
    .argument('<kid>', 'the key id, as shown by keys list')
    .addHelpText('after', examples('coursegate keys remove --config coursegate.yaml KID --reason "leaked"'))
    .action(async (kid: string, flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, `Invalidate everything that ${kid} has signed?`);
      show(flags, await change(gate, `/keys/${encodeURIComponent(kid)}/remove`, flags));
    });

  asking(command.command('export'))
    .description('print the public keys as a JWKS (RFC 7517)')
    .option('--public', 'the public parts; private keys are never exported', false)
    .addHelpText('after', examples('coursegate keys export --public --config coursegate.yaml > jwks.json'))
    .action(async (flags: OperatorFlags & { readonly public: boolean }) => {
      if (!flags.public) {
        throw new CommandFailure('Private keys are never exported.', {
          next: 'coursegate keys export --public --config FILE',
          code: EXIT.usage,
        });
      }
      const gate = await adminClient(flags, terminal.environment);
      const { keys } = (await gate.command('GET', '/keys')) as Keys;
      terminal.print(`${JSON.stringify({ keys: keys.map(({ public_key: key }) => key) }, undefined, 2)}\n`);
    });
};

async function readKeyFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CommandFailure(`Cannot read ${file}.`, { cause, code: EXIT.usage });
  });
}

/** Returns PEM as text and JSON parsed. The gate checks whether the key is usable. */
function keyIn(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return text;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandFailure('The key is neither PEM nor JSON.', { cause, code: EXIT.usage });
  }
}

async function textOf(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of input) text += String(chunk);
  return text;
}
