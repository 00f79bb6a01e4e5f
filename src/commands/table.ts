/** In: a heading for each column, and the rows. Out: lines with the columns under each other, and none of them cut. */
export function tableOf(
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
  { colour }: { readonly colour: boolean },
): string {
  const cells = rows.map((row) => row.map((cell) => shown(cell ?? '')));
  const widths = headings.map((heading, at) => Math.max(heading.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  const head = line(headings);
  return [colour ? `\u001b[1m${head}\u001b[22m` : head, ...cells.map(line)].map((text) => `${text}\n`).join('');
}

/** Names are chosen by strangers: nothing in them may reach the terminal as a command to it. */
function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}
