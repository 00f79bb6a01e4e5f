import { text } from 'node:stream/consumers';
import { readTextFile } from './admin-client.ts';
import type { Define } from './command.ts';
import { misused } from './failure.ts';
import { answer, asking, changing, confirmed, get, type OperatorFlags } from './operator.ts';
import { table } from './table.ts';
import { type KeyList, when } from './views.ts';

const CONFIGURED = '--config coursegate.yaml';

export const define: Define = (command, terminal) => {
  const show = (flags: OperatorFlags, { keys }: KeyList) =>
    answer(terminal, flags, keys, () =>
      table(
        terminal,
        ['KEY', 'ALG', 'STATE', 'SINCE', 'UNTIL'],
        keys.map(({ kid, alg, state, since, until }) => [kid, alg, state, when(since), when(until)]),
      ),
    );

  asking(command, 'list', 'list the keys that sign ID tokens and assertions', CONFIGURED).action(
    async (flags: OperatorFlags) => show(flags, await get(terminal, flags, '/keys')),
  );

  changing(
    command,
    'rotate',
    'sign with the next keys; signatures of the current keys stay valid for a day',
    `${CONFIGURED} --reason "yearly"`,
  )
    .option('--now', 'even if a next key was published less than an hour ago and verifiers may not have it yet', false)
    .action(async ({ now, ...flags }: OperatorFlags & { readonly now: boolean }) => {
      const change = await confirmed(terminal, flags, 'Sign with the next keys from now on?');
      show(flags, await change('/keys/rotate', now ? { now } : {}));
    });

  changing(
    command,
    'import',
    'use your own key as the next one of its kind: an EC P-256 or RSA private key as PEM, JWK or JWKS',
    `${CONFIGURED} key.pem`,
    'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 | coursegate keys import --config coursegate.yaml -',
    'openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 | coursegate keys import --config coursegate.yaml -',
  )
    .argument('<file>', 'the key file, or - for standard input')
    .action(async (file: string, flags: OperatorFlags) => {
      const key = keyIn(file === '-' ? await text(terminal.input) : await readTextFile(file));
      const change = await confirmed(terminal, flags, 'Replace the next signing key of its kind with this one?');
      show(flags, await change('/keys/import', { key }));
    });

  changing(
    command,
    'remove',
    'remove a compromised key at once; everything it signed becomes invalid',
    `${CONFIGURED} KID --reason "leaked"`,
  )
    .argument('<kid>', 'the key id, as shown by keys list')
    .action(async (kid: string, flags: OperatorFlags) => {
      const change = await confirmed(terminal, flags, `Invalidate everything that ${kid} has signed?`);
      show(flags, await change(`/keys/${encodeURIComponent(kid)}/remove`));
    });
};

/** Returns PEM as text and JSON parsed. The gate checks whether the key is usable. */
function keyIn(given: string): unknown {
  if (!given.trimStart().startsWith('{')) return given;
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw misused('The key is neither PEM nor JSON.', { cause });
  }
}
