/** Builds the single binaries from the bundle: `node packaging/binary/build.ts [--arch x64|arm64] [--out DIR]`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { packApplication } from './application.ts';
import { assemble } from './assemble.ts';
import { NODE_VERSION, nodeFor, type Processor } from './node.ts';
import { loaderFor } from './toolchain.ts';

const BUILD = fileURLToPath(new URL('../../build/', import.meta.url));
const PROCESSORS: readonly Processor[] = ['x64', 'arm64'];

export interface BinaryOptions {
  /** The folder to write to. */
  readonly out?: string;
  /** The folder of a finished bundle. */
  readonly bundle?: string;
  readonly processors?: readonly Processor[];
}

/**
 * Writes `coursegate-linux-…` for each processor, and the licences of what the binaries contain besides the bundle. Equal
 * bundles give equal files with equal compilers. Returns the paths of the files.
 */
export async function buildBinary({
  out = join(BUILD, 'binary'),
  bundle = join(BUILD, 'bundle'),
  processors = PROCESSORS,
}: BinaryOptions = {}): Promise<readonly string[]> {
  if (manifest.devDependencies.node !== NODE_VERSION) {
    throw new Error(
      `packaging/binary/node.json names Node ${NODE_VERSION}, package.json ${manifest.devDependencies.node}`,
    );
  }
  mkdirSync(out, { recursive: true });
  const files: string[] = [];
  for (const processor of processors) {
    const { executable, licence } = await nodeFor(processor);
    const application = await packApplication(bundle, executable, processor);
    const binary = assemble({ node: executable, application, ...(await loaderFor(processor)) });
    const file = join(out, `coursegate-linux-${processor}`);
    writeFileSync(file, binary, { mode: 0o755 });
    writeFileSync(join(out, NOTICE), notice(bundle, licence));
    files.push(file);
  }
  return [...files, join(out, NOTICE)];
}

const NOTICE = 'NOTICE';

/** The licences of everything inside. */
function notice(bundle: string, node: Buffer): string {
  const parts = [
    readFileSync(join(bundle, 'NOTICE'), 'utf8'),
    `Node.js ${NODE_VERSION}\n\n${node.toString('utf8')}`,
    'libstdc++ and libgcc, of GCC\n\nGPL-3.0-or-later WITH GCC-exception-3.1: the GCC Runtime Library Exception permits to\nconvey them, combined with this program, under the terms of this program. Sources: https://gcc.gnu.org\n',
  ];
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  const { arch, out } = parseArgs({ options: { arch: { type: 'string' }, out: { type: 'string' } } }).values;
  const processors = PROCESSORS.filter((one) => arch === undefined || one === arch);
  if (processors.length === 0) throw new Error(`--arch takes ${PROCESSORS.join(' or ')}, not "${arch}".`);
  for (const file of await buildBinary({ processors, ...(out === undefined ? {} : { out }) })) console.log(file);
}
