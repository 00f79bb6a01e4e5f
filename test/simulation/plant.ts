import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';

const SRC = new URL('../../src/', import.meta.url);

/** The bug with this name. Throws if there is none. */
export function bugNamed(name: string): PlantedBug {
  const found = PLANTED_BUGS.find((bug) => bug.name === name);
  if (found === undefined) throw new Error(`there is no planted bug ${name}`);
  return found;
}

/** The files that a bug changes, by their address, with their text as it is then. Throws if a text is not there once. */
export function plantedFiles({ name, edits }: PlantedBug): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [file, from, to] of edits) {
    const url = new URL(file, SRC).href;
    const text = files.get(url) ?? readFileSync(fileURLToPath(url), 'utf8');
    const times = text.split(from).length - 1;
    if (times !== 1) throw new Error(`the bug ${name} does not apply: src/${file} has this ${times} times: ${from}`);
    files.set(
      url,
      text.replace(from, () => to),
    );
  }
  return files;
}

/** Plants a bug in this process: call it before anything of `src` is imported. */
export function plant(bug: PlantedBug): void {
  const files = plantedFiles(bug);
  const left = new Set(files.keys());
  registerHooks({
    load(url, context, nextLoad) {
      const source = files.get(url);
      const loaded = nextLoad(url, context);
      if (source === undefined) return loaded;
      left.delete(url);
      return { ...loaded, source };
    },
  });
  process.once('exit', (code) => {
    if (code === 0 && left.size > 0) throw new Error(`the bug ${bug.name} was planted too late, or is never loaded`);
  });
}
