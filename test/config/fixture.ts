import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ConfigError, type LoadedConfig, type LoadOptions, loadConfig } from '../../src/config/load.ts';

/** The smallest valid configuration. */
export const SMALL = `version: 1
profile: B
origin: https://school.example
store: { kind: sqlite, path: data/gate.db }
login:
  kind: session
  upstream: school
  whoami: { path: /api/me }
  loginUrl: /login
  cookies: [school_session]
upstreams:
  school: { url: http://127.0.0.1:4000 }
site: { upstream: school }
`;

/** Creates a folder with these files, which is removed after the test. */
export async function folderWith(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'coursegate-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

type Extra = Partial<Omit<LoadOptions, 'file'>> & {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
};

/** Loads a text as gate.yaml, with further files in its folder. */
export async function load(text: string, { files = {}, ...options }: Extra = {}): Promise<LoadedConfig> {
  const folder = await folderWith({ 'gate.yaml': text, ...files });
  return await loadConfig({ environment: {}, ...options, file: join(folder, 'gate.yaml') });
}

/** Returns the complete output for an invalid configuration, with code frames and without the folder's name. */
export async function failure(text: string, extra: Extra = {}): Promise<string> {
  const error = await load(text, extra).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ConfigError)) throw new Error(`expected a ConfigError, got ${String(error)}`);
  return error.message.replace(/\S*\/coursegate-config-[^/]*\//g, '');
}

/** Returns the lines of `failure` that report a mistake, without code frames and the last line. */
export async function mistakes(text: string, extra: Extra = {}): Promise<readonly string[]> {
  const lines = (await failure(text, extra)).split('\n');
  return lines.slice(0, -1).filter((line) => !/^ *\d* \| /.test(line));
}
