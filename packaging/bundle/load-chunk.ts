import type { Script } from 'node:vm';

/** The text of a chunk's file: a function of what CommonJS gives to a module, so that V8 takes the text as it is. */
export function chunkText(code: string): string {
  return `(function(exports,require,module,__filename,__dirname){${code}\n})`;
}

/**
 * The beginning of the bundle's entry: its `require` for the other files. In the single binary they are assets, which Node's
 * own `require` does not know. Elsewhere too, they are run with compiled code that an earlier start has left, and that has,
 * unlike Node's own cache, the functions that were called: compiling these is a quarter of a start.
 */
export const LOAD_CHUNK = `require = (${loadChunk})(require, module, __filename, __dirname);`;

type Run = (exports: object, require: unknown, module: object, file: string, folder: string) => void;

/** Runs as text at the top of another file, so it uses nothing that is outside of it. */
function loadChunk(builtin: NodeJS.Require, entry: object, entryFile: string, folder: string) {
  const { readFileSync, renameSync, statSync, writeFileSync } = builtin('node:fs') as typeof import('node:fs');
  const { getCompileCacheDir } = builtin('node:module') as typeof import('node:module');
  const { getRawAsset, isSea } = builtin('node:sea') as typeof import('node:sea');
  const vm = builtin('node:vm') as typeof import('node:vm');
  const { crc32 } = builtin('node:zlib') as typeof import('node:zlib');
  const COMMANDS = ['serve', 'demo'];
  const loaded = new Map<string, { readonly exports: object }>([['./coursegate.cjs', entry as { exports: object }]]);
  const fresh = new Map<string, { readonly script: Script; readonly source: number }>();
  let kept: Map<string, { readonly code: Buffer; readonly source: number }> | undefined;

  /** Where Node keeps compiled code for this version, these flags and this account, unless another account can write there. */
  const trustedFolder = () => {
    const directory = getCompileCacheDir();
    if (directory === undefined) return;
    const { uid, mode } = statSync(directory);
    if ((uid === 0 || uid === process.getuid?.()) && (mode & 0o022) === 0) return directory;
  };

  /** A line of JSON with a checksum of the rest, and of each chunk its name, a checksum of its source, and the end of its code. */
  const readKept = () => {
    const found: typeof kept = new Map();
    try {
      const directory = trustedFolder();
      if (directory === undefined) return;
      const file = readFileSync(`${directory}/bundle`);
      const end = file.indexOf('\n');
      const { sum, chunks } = JSON.parse(file.toString('latin1', 0, end));
      const code = file.subarray(end + 1);
      if (crc32(code) !== sum) return found;
      let start = 0;
      for (const [name, source, length] of chunks) {
        found.set(name, { source, code: code.subarray(start, start + length) });
        start += length;
      }
    } catch {
      // A start without it only takes longer.
    }
    return found;
  };

  const compile = (name: string, file: string, text: Buffer): Run => {
    kept ??= readKept();
    const source = crc32(text);
    const before = kept?.get(name);
    // V8 compares versions, flags and the length of the source, but not the source.
    const cachedData = before?.source === source ? before.code : undefined;
    const script = new vm.Script(text.toString(), { filename: file, cachedData });
    if (kept !== undefined && script.cachedDataRejected !== false) fresh.set(name, { script, source });
    return script.runInThisContext() as Run;
  };

  process.once('exit', (code) => {
    if (code !== 0 || fresh.size === 0 || !COMMANDS.includes(process.argv[2] ?? '')) return;
    try {
      const directory = trustedFolder();
      if (directory === undefined) return;
      const all = new Map(kept);
      for (const [name, { script, source }] of fresh) all.set(name, { source, code: script.createCachedData() });
      const data = Buffer.concat([...all.values()].map((one) => one.code));
      const chunks = [...all].map(([name, one]) => [name, one.source, one.code.length]);
      const file = `${directory}/bundle.${process.pid}`;
      writeFileSync(file, Buffer.concat([Buffer.from(`${JSON.stringify({ sum: crc32(data), chunks })}\n`), data]));
      renameSync(file, `${directory}/bundle`);
    } catch {
      // It may be read-only.
    }
  });

  return function load(name: string): unknown {
    if (!name.startsWith('./')) return builtin(name);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const chunk = { exports: {} };
    loaded.set(name, chunk);
    const asset = `lib/${name.slice(2)}`;
    const file = isSea() ? asset : `${folder}/${name.slice(2)}`;
    const run = compile(name, file, isSea() ? Buffer.from(getRawAsset(asset)) : readFileSync(file));
    run(chunk.exports, load, chunk, isSea() ? entryFile : file, folder);
    return chunk.exports;
  };
}
