/** Builds the single binaries from the bundle: `node packaging/binary/build.ts [--arch x64|arm64] [--out DIR]`. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../files.ts';
import { packApplication } from './application.ts';
import { assemble } from './assemble.ts';
import { NODE_VERSION, nodeFor, type Processor } from './node.ts';
import { loaderFor } from './toolchain.ts';

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
  out = join(ROOT, 'build/binary'),
  bundle = join(ROOT, 'build/bundle'),
  processors = PROCESSORS,
}: BinaryOptions = {}): Promise<readonly string[]> {
  if (manifest.devDependencies.node !== NODE_VERSION) {
    throw new Error(
      `packaging/binary/node.json names Node ${NODE_VERSION}, package.json ${manifest.devDependencies.node}`,
    );
  }
  if (!existsSync(bundle)) throw new Error(`there is no bundle in ${bundle}: npm run build`);
  mkdirSync(out, { recursive: true });
  const files: string[] = [];
  const application = await packApplication(bundle);
  for (const processor of processors) {
    const { executable, licence } = await nodeFor(processor);
    const binary = assemble({ node: executable, application, ...(await loaderFor(processor)) });
    const file = join(out, `coursegate-linux-${processor}`);
    writeFileSync(file, binary, { mode: 0o755 });
    writeFileSync(join(out, NOTICE), notice(licence));
    files.push(file);
  }
  return [...files, join(out, NOTICE)];
}

const NOTICE = 'NOTICE-node';

/** The licences of what is in a binary besides the bundle, which has its own `NOTICE`. */
function notice(node: string): string {
  return `Node.js ${NODE_VERSION}

${node}
${'-'.repeat(80)}

libstdc++ and libgcc, the libraries of GCC that Node is linked to: https://gcc.gnu.org

GPL-3.0-or-later WITH GCC-exception-3.1. The GCC Runtime Library Exception permits to convey them, combined with other
programs, under the terms of those programs.
`;
}

if (import.meta.main) {
  const { arch, out } = parseArgs({ options: { arch: { type: 'string' }, out: { type: 'string' } } }).values;
  const processors = PROCESSORS.filter((one) => arch === undefined || one === arch);
  if (processors.length === 0) throw new Error(`--arch takes ${PROCESSORS.join(' or ')}, not "${arch}".`);
  for (const file of await buildBinary({ processors, ...(out === undefined ? {} : { out }) })) console.log(file);
}
