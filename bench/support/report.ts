import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url));
const HEAD = `# Measured

Written by \`npm run bench:*\`, each its own section. Figures of one machine and one moment: compare those of one section.
`;

/** What the figures depend on besides the code. Read when the work begins, so that the load is that of others. */
export function conditions(): string {
  const processors = cpus();
  const load = loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');
  return `${processors[0]?.model.trim()}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.versions.node}, SQLite ${process.versions.sqlite}; load average at the start ${load}; ${new Date().toISOString().slice(0, 10)}.`;
}

/** In: a heading and rows of equal length, text to the left and figures to the right. Out: a Markdown table. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const rule = heads.map((_, at) => (typeof rows[0]?.[at] === 'number' ? '---:' : '---'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** Prints a section, and puts it into RESULTS.md in place of the one of the same title; the others stay as they are. */
export function report(title: string, body: string): void {
  const section = `## ${title}\n\n${body.trim()}\n`;
  process.stdout.write(`\n${section}`);
  const [head = HEAD, ...sections] = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8').split(/^(?=## )/m) : [HEAD];
  const others = sections.filter((other) => !other.startsWith(`## ${title}\n`));
  const all = [...others.map((other) => `${other.trim()}\n`), section].toSorted();
  writeFileSync(RESULTS, `${head.trim()}\n\n${all.join('\n')}`);
}
