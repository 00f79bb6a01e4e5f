import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../files.ts';
import pinned from './node.json' with { type: 'json' };

/** The processors that there is a binary for, as Node names them. */
export type Processor = 'x64' | 'arm64';

export const NODE_VERSION = pinned.version;

const run = promisify(execFile);
const CACHE = join(ROOT, 'node_modules/.cache/coursegate-binary');

/**
 * The executable and the licence of the pinned Node for a processor, from the package `node-linux-…` of the npm registry,
 * which the development dependency `node` installs too. Throws if the package is not the pinned one.
 */
export async function nodeFor(
  processor: Processor,
): Promise<{ readonly executable: Buffer; readonly licence: string }> {
  const name = `node-linux-${processor}-${NODE_VERSION}.tgz`;
  const kept = join(CACHE, name);
  if (!existsSync(kept)) {
    mkdirSync(CACHE, { recursive: true });
    const folder = mkdtempSync(join(CACHE, 'pack-'));
    await run('npm', ['pack', '--silent', `--pack-destination=${folder}`, `node-linux-${processor}@${NODE_VERSION}`]);
    renameSync(join(folder, name), kept);
    rmSync(folder, { recursive: true });
  }
  const integrity = `sha512-${createHash('sha512').update(readFileSync(kept)).digest('base64')}`;
  if (integrity !== pinned.integrity[processor]) {
    rmSync(kept);
    throw new Error(`${name} is not the package that packaging/binary/node.json names: its integrity is ${integrity}`);
  }
  return {
    executable: await unpacked(kept, 'package/bin/node'),
    licence: (await unpacked(kept, 'package/LICENSE')).toString('utf8'),
  };
}

async function unpacked(archive: string, path: string): Promise<Buffer> {
  const options = { encoding: 'buffer', maxBuffer: 512 * 1024 ** 2 } as const;
  return (await run('tar', ['--extract', '--gzip', '--to-stdout', '--file', archive, path], options)).stdout;
}
