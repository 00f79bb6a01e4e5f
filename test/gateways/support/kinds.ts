import { readdirSync } from 'node:fs';
import { describe } from 'vitest';
import { missing } from '../../support/missing.ts';
import type { GatewayKind } from './gateway-kind.ts';

const FILES = readdirSync(new URL('../kinds', import.meta.url)).toSorted();
const MODULES: readonly Readonly<Record<string, GatewayKind>>[] = await Promise.all(
  FILES.map((file) => import(`../kinds/${file}`)),
);

/** Every gateway that the common suite runs: what the files in `kinds` export. */
export const KINDS: readonly GatewayKind[] = MODULES.flatMap((module) => Object.values(module));

export function installedKinds(): readonly GatewayKind[] {
  return KINDS.filter(isInstalled);
}

/**
 * Whether a gateway is on this machine. Without it, its tests are skipped with a message that names what to install. In
 * CI this is an error for gateways that Debian has, so that a green run means they ran.
 */
export function isInstalled(kind: GatewayKind): boolean {
  if (kind.program() !== undefined) return true;
  return missing(`no ${kind.name} found: its tests need one (${kind.install})`, kind.optional === true);
}

/** A suite for each kind, skipped by name where it is not installed. `$name` in the title is the kind's. */
export function describeKinds(
  kinds: readonly GatewayKind[],
  title: string,
  suite: (kind: GatewayKind, at: number) => void,
): void {
  for (const [at, kind] of kinds.entries())
    describe.skipIf(!isInstalled(kind))(title.replace('$name', kind.name), () => suite(kind, at));
}

/** Makes a gateway wait for a decision for one second in place of five, so that the tests need not. */
export function impatient(snippet: string): string {
  return snippet
    .replaceAll(/\b5s\b/g, '1s')
    .replace('CONNECT_LIMIT, ANSWER_LIMIT = 1, 5', 'CONNECT_LIMIT, ANSWER_LIMIT = 1, 1');
}
