/** Writes the man page and the completion scripts of the command line: `node packaging/cli-pages.ts FOLDER` */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completionScript } from '../src/commands/completion.ts';
import { ALL, createProgram } from '../src/commands/program.ts';
import { buildTime } from './build-time.ts';
import { manPage } from './man-page.ts';

/** Writes `coursegate.1`, `coursegate.bash`, `_coursegate` and `coursegate.fish` to `out`. Resolves to their paths. */
export async function writeCliPages(out: string): Promise<readonly string[]> {
  const [program] = await createProgram(ALL);
  const pages = {
    'coursegate.1': manPage(program, buildTime() * 1000),
    'coursegate.bash': completionScript('bash'),
    _coursegate: completionScript('zsh'),
    'coursegate.fish': completionScript('fish'),
  };
  await mkdir(out, { recursive: true });
  return Promise.all(
    Object.entries(pages).map(async ([name, text]) => {
      const path = join(out, name);
      await writeFile(path, text);
      return path;
    }),
  );
}

if (import.meta.main) for (const path of await writeCliPages(process.argv[2] ?? 'build/cli')) console.log(path);
