import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { describeBundle } from '../describe-bundle.ts';
import { copyFiles, filesBelow, filesBesideCode, ROOT, threads } from '../files.ts';
import { chunkText, LOAD_CHUNK } from './load-chunk.ts';

/** The folders that the code reads, as they are in a clone. */
const FOLDERS = ['config', 'schema', 'integrations'];

/** Packages ask for them and do without: the first is native, the second exists on one platform only. */
const EXTERNAL = ['pg-native', 'cloudflare:sockets'];

/** CommonJS has no `import.meta`. */
const MODULE_URL = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";

/**
 * Writes the gate as a folder that needs nothing but Node: the code with its dependencies in few files, which load faster
 * than a thousand, and the files that the code reads. Returns the paths of the files.
 */
export async function buildBundle({ out = join(ROOT, 'build/bundle') } = {}): Promise<readonly string[]> {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const lib = join(out, 'lib');
  const modules = await bundle({ coursegate: 'src/main.ts' }, lib, true);
  // A thread of the single binary has no `require` for other files.
  for (const thread of threads()) modules.push(...(await bundle({ [thread]: `src/${thread}.ts` }, lib, false)));
  // JSON is imported, and so in the bundle already.
  const beside = filesBesideCode().filter((path) => !path.endsWith('.json'));
  copyFiles(join(ROOT, 'src'), lib, beside);
  for (const folder of FOLDERS) copyFiles(join(ROOT, folder), join(out, folder), filesBelow(join(ROOT, folder)));
  copyFiles(ROOT, out, ['LICENSE']);
  const { name, version, description, license } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(
    join(out, 'package.json'),
    `${JSON.stringify({ name, version, description, license }, undefined, 2)}\n`,
  );
  describeBundle({ out, modules: [...new Set(modules)] });
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

/**
 * Bundles files of `src`, by the names of their bundles. What only some commands need, or only some configurations, is in
 * files beside them, so that a start reads no more code than it runs. Returns the absolute paths of the modules in the output.
 */
async function bundle(input: Readonly<Record<string, string>>, dir: string, codeSplitting: boolean) {
  const build = await rolldown({
    cwd: ROOT,
    input,
    platform: 'node',
    external: EXTERNAL,
    transform: { define: { 'import.meta.url': 'moduleUrl' } },
    checks: { eval: false },
    plugins: [jsonAsText],
  });
  const { output } = await build.write({
    dir,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    format: 'cjs',
    codeSplitting,
    // Code of node:vm cannot import.
    dynamicImportInCjs: false,
    comments: false,
    // With one character beyond Latin-1, V8 keeps two bytes for each of the file.
    charset: 'ascii',
    // Only white space: `compress` has changed what the store's commit returns, and names are needed in stack traces.
    minify: { compress: false, mangle: false, codegen: true },
    banner: ({ isEntry }) => (isEntry && codeSplitting ? LOAD_CHUNK : '') + MODULE_URL,
  });
  await build.close();
  const chunks = output.filter((one) => one.type === 'chunk');
  for (const { fileName, isEntry, code } of chunks) if (!isEntry) writeFileSync(join(dir, fileName), chunkText(code));
  return chunks.flatMap(({ modules }) => Object.keys(modules).filter((id) => (modules[id]?.renderedLength ?? 0) > 0));
}
