import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files that a file imports, also when it is needed: their paths from the root. */
export type ImportsOf = (file: string) => ReadonlySet<string>;

/** Reads the imports of the files below a root, each once. `further` adds files that a file uses without an import. */
export function importsIn(
  root: string,
  further: (file: string, text: string) => readonly string[] = () => [],
): ImportsOf {
  const known = new Map<string, ReadonlySet<string>>();
  return (file) => {
    const before = known.get(file);
    if (before !== undefined) return before;
    const text = readFileSync(join(root, file), 'utf8');
    const found = [...text.matchAll(/['"`](\.{1,2}\/[^'"`\s]+\.ts)['"`]/g)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => existsSync(join(root, path)));
    const imports = new Set([...found, ...further(file, text)]);
    known.set(file, imports);
    return imports;
  };
}

/** The files that a file reaches by imports, itself included, with the number of imports between them. */
export function reachedFrom(file: string, importsOf: ImportsOf): ReadonlyMap<string, number> {
  const reached = new Map([[file, 0]]);
  for (const [one, steps] of reached)
    for (const other of importsOf(one)) if (!reached.has(other)) reached.set(other, steps + 1);
  return reached;
}
