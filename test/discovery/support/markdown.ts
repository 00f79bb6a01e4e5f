/** A request in a block of the instructions. */
export interface Instruction {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headings of the second level. */
export function headings(text: string): readonly string[] {
  return [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
}

/** The rows of the last table under a heading, without the header row and without backticks. */
export function tableUnder(text: string, heading: string): readonly (readonly string[])[] {
  const start = heading.startsWith('#') ? 0 : text.indexOf(`\n## ${heading}\n`) + 1;
  const section = text.slice(start).split(/\n## /, 1)[0] ?? '';
  const tables = section.split('\n\n').filter((part) => part.startsWith('| '));
  const rows = (tables.at(-1) ?? '').trim().split('\n').slice(2);
  if (rows.length === 0) throw new Error(`there is no table under ${heading}`);
  return rows.map((row) =>
    row
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', '')),
  );
}

/** Every request in a block. */
export function instructions(text: string): readonly Instruction[] {
  return [...text.matchAll(/```http\n([\s\S]*?)\n```/g)].map(([, block = '']) => {
    const [head = '', body = ''] = block.split('\n\n');
    const [line = '', ...fields] = head.split('\n');
    const [method = '', url = ''] = line.split(' ');
    return {
      method,
      url,
      body,
      headers: Object.fromEntries(fields.map((field) => field.split(': ') as [string, string])),
    };
  });
}

/** Sends a request as shown, with placeholders in angle brackets replaced; in a form, percent-encoded. */
export async function send(
  { method, url, headers, body }: Instruction,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const fill = (text: string, encode: (value: string) => string) =>
    text.replace(/<([^>]+)>/g, (_, name: string) => {
      const value = known.get(name);
      if (value === undefined) throw new Error(`the instructions never said what ${name} is`);
      return encode(value);
    });
  const isForm = /urlencoded/.test(Object.values(headers).join());
  const filled = fill(body, isForm ? encodeURIComponent : (value) => value);
  const response = await fetch(url, {
    method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value, (one) => one)])),
    ...(filled === '' ? {} : { body: filled }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}
