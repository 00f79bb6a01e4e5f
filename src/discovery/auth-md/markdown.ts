import { counted } from '../../http/amounts.ts';
/** Escapes an operator's text for use within a line of Markdown, so that it contains no markup and no line break. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

/** A Markdown table: the titles, and then the cells of each row, as Markdown. */
export function table([titles = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(titles), line(titles.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A value that is to be used verbatim. */
export function code(value: string): string {
  return `\`${value}\``;
}

export function codes(values: Iterable<string>): string {
  return [...values].map(code).join(', ');
}

/** An HTTP request, to be sent verbatim apart from the placeholders in angle brackets. */
export function block(lines: readonly string[]): string {
  return ['```http', ...lines, '```'].join('\n');
}

/** A request that posts a form. */
export function formBlock(url: string, form: string): string {
  return block([`POST ${url}`, 'Content-Type: application/x-www-form-urlencoded', '', form]);
}

/** Formats seconds in the largest unit that gives a whole number: `10 minutes`. */
export function durationText(seconds: number): string {
  for (const [unit, of] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const) {
    if (seconds >= of && seconds % of === 0) return counted(seconds / of, unit);
  }
  return counted(seconds, 'second');
}
