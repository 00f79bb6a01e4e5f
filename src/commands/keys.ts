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
    .description('list the keys that ID tokens and assertions are signed with')
    .addHelpText('after', examples('coursegate keys list --config coursegate.yaml'))
    .action(async (flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      show(flags, await gate.command('GET', '/keys'));
    });

  changing(command.command('rotate'))
    .description('sign with the next key; what the present one signed still verifies for a day')
    .option('--now', 'also when the next key is published for less than an hour, and some may not know it', false)
    .addHelpText('after', examples('coursegate keys rotate --config coursegate.yaml --reason "yearly"'))
    .action(async ({ now, ...flags }: OperatorFlags & { readonly now: boolean }) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, 'Sign with the next key from now on?');
      show(flags, await change(gate, '/keys/rotate', flags, now ? { now } : {}));
    });

  changing(command.command('import'))
    .description('bring a key of your own as the next one: an EC P-256 private key, as PEM, JWK or JWKS')
    .argument('<file>', 'the file of the key; - reads it from standard input')
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
      await agreed(terminal, flags, 'Put this key in the place of the one that waits to sign?');
      show(flags, await change(gate, '/keys/import', flags, { key }));
    });

  changing(command.command('remove'))
    .description('end a key at once, because somebody else may have it: what it signed verifies nowhere any more')
    .argument('<kid>', 'its name, as keys list shows it')
    .addHelpText('after', examples('coursegate keys remove --config coursegate.yaml KID --reason "leaked"'))
    .action(async (kid: string, flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, `Have nothing verify any more that ${kid} has signed?`);
      show(flags, await change(gate, `/keys/${encodeURIComponent(kid)}/remove`, flags));
    });

  asking(command.command('export'))
    .description('print the public keys as a JWKS (RFC 7517)')
    .option('--public', 'the public parts, which are all that is ever given out', false)
    .addHelpText('after', examples('coursegate keys export --public --config coursegate.yaml > jwks.json'))
    .action(async (flags: OperatorFlags & { readonly public: boolean }) => {
      if (!flags.public) {
        throw new CommandFailure('Private keys are never given out.', {
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
    throw new CommandFailure(`${file} cannot be read.`, { cause, code: EXIT.usage });
  });
}

/** A PEM text as it is, and JSON as what it says: which key that is, the gate looks at. */
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
