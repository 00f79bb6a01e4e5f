import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { filesBelow } from '../files.ts';
import type { Processor } from './node.ts';
import { onProcessor } from './toolchain.ts';

const run = promisify(execFile);
const MAIN = 'lib/coursegate.cjs';

/** Options that the binary gives to its Node. NODE_OPTIONS can add to them. */
const NODE_OPTIONS = [
  // Besides Node's own list of authorities. A program of the system is expected to trust what the system trusts.
  '--use-system-ca',
];

/** Without it, compiled code differs from one run to the next. It is no part of what a Node compares with its own options. */
const SAME_EACH_TIME = '--random-seed=1';

/**
 * Packs a bundle into what a single executable application of Node carries: its code, the compiled form of that code, and
 * every other file as an asset under its path in the bundle.
 */
export async function packApplication(bundle: string, node: Buffer, processor: Processor): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-application-'));
  try {
    const [executable, config, output] = ['node', 'config.json', 'application'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const assets = filesBelow(bundle).filter((path) => path !== MAIN);
    const settings = {
      main: MAIN,
      output,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      execArgv: NODE_OPTIONS,
      assets: Object.fromEntries(assets.map((path) => [path, path])),
    };
    writeFileSync(config, JSON.stringify(settings));
    writeFileSync(executable, node, { mode: 0o755 });
    // Only the Node that will run the code can compile it in advance.
    const [program, ...args] = onProcessor(processor, executable, [
      SAME_EACH_TIME,
      '--experimental-sea-config',
      config,
    ]);
    await run(program, args, { cwd: bundle });
    return readFileSync(output);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
