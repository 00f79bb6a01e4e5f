import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SEMI_SPACE } from '../../src/commands/heap-limits.ts';
import { filesBelow, ROOT } from '../files.ts';

const run = promisify(execFile);
/** The development dependency, which is the Node that the binaries contain. */
const NODE = join(ROOT, 'node_modules/node/bin/node');
const MAIN = 'lib/coursegate.cjs';

/** Options that the binary gives to its Node. NODE_OPTIONS can add to them. */
const NODE_OPTIONS = [
  // Besides Node's own list of authorities. A program of the system is expected to trust what the system trusts.
  '--use-system-ca',
  SEMI_SPACE,
];

/**
 * Packs a bundle into what a single executable application of Node carries, on any processor: its entry, and every other
 * file as an asset under its path in the bundle.
 */
export async function packApplication(bundle: string): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-application-'));
  try {
    const [config, output] = [join(folder, 'config.json'), join(folder, 'application')];
    const assets = filesBelow(bundle).filter((path) => path !== MAIN);
    const settings = {
      main: MAIN,
      output,
      disableExperimentalSEAWarning: true,
      // Compiled code would be tied to one processor, and gains nothing, since the entry is small.
      useCodeCache: false,
      execArgv: NODE_OPTIONS,
      assets: Object.fromEntries(assets.map((path) => [path, path])),
    };
    writeFileSync(config, JSON.stringify(settings));
    await run(NODE, ['--experimental-sea-config', config], { cwd: bundle });
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
