/** An operator's text inside a line of Markdown: nothing in it is markup, and it does not end the line. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

/** In: the titles of the columns, and the cells by row, as Markdown. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A value that a machine may take as it is. */
export function code(value: string): string {
  return `\`${value}\``;
}

export function codes(values: Iterable<string>): string {
  return [...values].map(code).join(', ');
}

/** A block that is sent as it stands, but for what is in angle brackets. */
export function block(language: string, lines: readonly string[]): string {
  return [`\`\`\`${language}`, ...lines, '```'].join('\n');
}

/** In: seconds. Out: as people say it, the largest unit that is whole: `10 minutes`. */
export function durationText(seconds: number): string {
  for (const [unit, of] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const) {
    if (seconds >= of && seconds % of === 0) return `${seconds / of} ${unit}${seconds === of ? '' : 's'}`;
  }
  return `${seconds} second${seconds === 1 ? '' : 's'}`;
}
