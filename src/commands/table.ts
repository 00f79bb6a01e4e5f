import { visibleText } from '../http/visible-text.ts';
import { alignedLines } from '../operator/connect/columns.ts';
import type { Terminal } from './terminal.ts';

/** Renders aligned columns. No cell is truncated. */
export function table(
  { colour }: Pick<Terminal, 'colour'>,
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visibleText(cell ?? '')));
  const [head = '', ...lines] = alignedLines([headings, ...cells]);
  return [colour() ? `\u001b[1m${head}\u001b[22m` : head, ...lines].map((text) => `${text}\n`).join('');
}
