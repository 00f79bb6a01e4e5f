import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { describeBundle } from '../describe-bundle.ts';
import { copyFiles, filesBelow, filesBesideCode, ROOT, threads } from '../files.ts';

/** The folders that the code reads, as they are in a clone. */
const FOLDERS = ['config', 'schema', 'integrations'];

/** Packages ask for them and do without: the first is native, the second exists on one platform only. */
const EXTERNAL = ['pg-native', 'cloudflare:sockets'];

/** CommonJS has no `import.meta`. */
const MODULE_URL = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";

/**
 * Writes the gate as a folder that needs nothing but Node: all code with its dependencies in one file, which loads faster
 * than a thousand, one for each thread, and the files that the code reads. Returns the paths of the files.
 */
export async function buildBundle({ out = join(ROOT, 'build/bundle') } = {}): Promise<readonly string[]> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const modules = new Set(await bundle('main', join(out, 'lib/coursegate.cjs')));
  for (const thread of threads())
    for (const module of await bundle(thread, join(out, `lib/${thread}.cjs`))) modules.add(module);
  // JSON is imported, and so in the bundle already.
  const beside = filesBesideCode().filter((path) => !path.endsWith('.json'));
  copyFiles(join(ROOT, 'src'), join(out, 'lib'), beside);
  for (const folder of FOLDERS) copyFiles(join(ROOT, folder), join(out, folder), filesBelow(join(ROOT, folder)));
  copyFiles(ROOT, out, ['LICENSE']);
  const { name, version, description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(
    join(out, 'package.json'),
    `${JSON.stringify({ name, version, description, license }, undefined, 2)}\n`,
  );
  describeBundle({ out, modules: [...modules] });
  return filesBelow(out).map((path) => join(out, path));
}

/**
 * JSON stays text, which V8 reads faster than code. As code, the bundler would write keys without quotes by its own version
 * of Unicode, which an older Node does not know.
 */
const jsonAsText: Plugin = {
  name: 'json-as-text',
  transform: {
    filter: { id: /\.json$/ },
    handler: (text) => ({
      code: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(text)))});`,
      moduleType: 'js',
    }),
  },
};

/** Bundles a file of `src`. Returns the absolute paths of the modules that are in the output. */
async function bundle(entry: string, file: string): Promise<readonly string[]> {
  const build = await rolldown({
    cwd: ROOT,
    input: `src/${entry}.ts`,
    platform: 'node',
    external: EXTERNAL,
    transform: { define: { 'import.meta.url': 'moduleUrl' } },
    checks: { eval: false },
    plugins: [jsonAsText],
  });
  const { output } = await build.write({
    file,
    format: 'cjs',
    codeSplitting: false,
    comments: false,
    minify: { compress: true, mangle: false, codegen: true },
    banner: MODULE_URL,
  });
  await build.close();
  const [chunk] = output as [OutputChunk];
  return Object.entries(chunk.modules).flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : []));
}
