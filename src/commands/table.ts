import { visibleText } from '../http/visible-text.ts';
import type { Terminal } from './terminal.ts';

/** Renders aligned columns. No cell is truncated. */
export function table(
  { colour }: Pick<Terminal, 'colour'>,
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visibleText(cell ?? '')));
  const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const head = line(headings);
  return [colour() ? `\u001b[1m${head}\u001b[22m` : head, ...cells.map(line)].map((text) => `${text}\n`).join('');
}
