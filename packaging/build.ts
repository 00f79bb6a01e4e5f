/** Builds what is shipped: `node packaging/build.ts [--only dist|bundle]`. */
import { parseArgs } from 'node:util';
import { buildBundle } from './bundle/bundle.ts';
import { buildDist } from './npm/compile.ts';

const BUILDS = { dist: buildDist, bundle: buildBundle };

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
if (only !== undefined && !Object.hasOwn(BUILDS, only)) throw new Error(`--only takes dist or bundle, not "${only}".`);
for (const [name, build] of Object.entries(BUILDS)) {
  if (only !== undefined && only !== name) continue;
  const files = await build();
  console.log(`${name}: ${files.length} files`);
}
