import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const RESULTS = process.env.BENCH_RESULTS ?? fileURLToPath(new URL('../RESULTS.md', import.meta.url));
const HEAD = `# Measured

Each \`npm run bench:*\` writes its own section. Figures depend on the machine and its load: compare only figures of one section.
`;

/** The conditions of a run. Read before the work starts, so that the load average is that of other processes. */
export function conditions(): string {
  const processors = cpus();
  const load = loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');
  return `${processors[0]?.model.trim()}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.versions.node}, SQLite ${process.versions.sqlite}; load average at the start ${load}; ${new Date().toISOString().slice(0, 10)}.`;
}

/** A Markdown table. Rows have as many cells as the heading; columns of numbers are right-aligned. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const rule = heads.map((_, at) => (typeof rows[0]?.[at] === 'number' ? '---:' : '---'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** Replaces the section of that title in RESULTS.md. Other sections are unchanged. BENCH_RESULTS names another file. */
export function writeSection(title: string, body: string): void {
  const section = `## ${title}\n\n${body.trim()}\n`;
  const [head = HEAD, ...sections] = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8').split(/^(?=## )/m) : [HEAD];
  const others = sections.filter((other) => !other.startsWith(`## ${title}\n`));
  const all = [...others.map((other) => `${other.trim()}\n`), section].toSorted();
  writeFileSync(RESULTS, `${head.trim()}\n\n${all.join('\n')}`);
}
