import type { Finding } from './problems.ts';
import { readNamed } from './secrets.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

const PREFIX = 'whsec_';
/** Length of a key in bytes, from the Standard Webhooks specification. */
const SHORTEST = 24;
const LONGEST = 64;

/** Reads the keys that sign events, the current one first. Empty when no events are sent. */
export async function readEventsSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<{ readonly keys: readonly Buffer[]; readonly findings: readonly Finding[] }> {
  const named = await Promise.all(
    ['secret', 'previous'].map((name) =>
      readNamed(valueAt(tree, ['events', name]), ['events', name], environment, files, problemOf),
    ),
  );
  return {
    keys: named.flatMap(({ value }) => (value === undefined ? [] : [keyOf(value)])),
    findings: named.flatMap(({ findings }) => findings),
  };
}

function problemOf(value: string): string | undefined {
  const text = value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value;
  const key = keyOf(value);
  const wanted = `must be ${PREFIX} followed by ${SHORTEST} to ${LONGEST} bytes in Base64 (echo "${PREFIX}$(openssl rand -base64 32)")`;
  // Node ignores characters that are not Base64. The backend might not, and would then use another key.
  if (key.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')) return wanted;
  return key.length >= SHORTEST && key.length <= LONGEST ? undefined : wanted;
}

function keyOf(value: string): Buffer {
  return Buffer.from(value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value, 'base64');
}
