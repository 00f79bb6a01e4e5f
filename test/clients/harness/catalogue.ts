import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { undownloaded } from './install.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));

export const PROFILES = ['A', 'B'] as const;
export type Profile = (typeof PROFILES)[number];

const profile = z.enum(PROFILES);

/** A `clients.json`. README.md explains the keys. */
const description = z.strictObject({
  language: z.string(),
  toolchain: z.array(z.string()).min(1),
  install: z.string(),
  clients: z.array(
    z.strictObject({
      name: z.string(),
      command: z.array(z.string()).min(1),
      needsFile: z.string().optional(),
      profiles: z.array(profile).default([...PROFILES]),
      fails: z.partialRecord(profile, z.string()).default({}),
    }),
  ),
});

export type Client = z.infer<typeof description>['clients'][number];

export interface Language extends Omit<z.infer<typeof description>, 'toolchain'> {
  /** The name of its folder, such as `go`. */
  readonly folder: string;
  /** Where its commands run. */
  readonly path: string;
  /** Whether its toolchain is installed. */
  readonly present: boolean;
}

/** Every language with a `clients.json`, in the order of their names. */
export function readLanguages(): Language[] {
  return globSync('*/clients.json', { cwd: FOLDER })
    .map((file) => {
      const { toolchain, ...rest } = description.parse(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')));
      return { ...rest, folder: dirname(file), path: join(FOLDER, dirname(file)), present: succeeds(toolchain) };
    })
    .toSorted((a, b) => a.language.localeCompare(b.language));
}

/** Why a client cannot run here, with the command that changes it; undefined if it can. */
export function lacking({ language, path, folder, install, present }: Language, client: Client): string | undefined {
  if (!present) return `${language} is not installed`;
  const unreachable = undownloaded({ path });
  if (unreachable !== undefined) return `the packages for ${language} could not be downloaded: ${unreachable}`;
  if (client.needsFile === undefined || existsSync(join(path, client.needsFile))) return undefined;
  return `(cd test/clients/${folder} && ${install})`;
}

function succeeds([program = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
