/** A request or response as shown on a page. */
interface Exchange {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly status: number | undefined;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Parses a message (RFC 9112 section 2.1); a header may continue on an indented line. Throws if it is invalid. */
function readExchange(text: string): Exchange {
  const [head = '', ...rest] = text.replace(/\n+$/, '').split(/\n\n/);
  const [line = '', ...lines] = head.replace(/\n[ \t]+/g, ' ').split('\n');
  const request = /^([A-Z]+) (\S+)(?: HTTP\/1\.1)?$/.exec(line);
  const answer = /^HTTP\/1\.1 (\d{3})(?: [A-Za-z -]+)?$/.exec(line);
  if (!request && !answer) throw new Error(`neither a request nor an answer begins with “${line}”`);
  const fields = lines.map((field) => {
    const found = /^([!#$%&'*+.^`|~\w-]+): (.*)$/.exec(field);
    if (!found) throw new Error(`no field: “${field}”`);
    return [found[1]?.toLowerCase() ?? '', found[2] ?? ''] as const;
  });
  return {
    method: request?.[1],
    target: request?.[2],
    status: answer ? Number(answer[1]) : undefined,
    fields,
    body: rest.join('\n\n'),
  };
}

/** Throws unless the text is a request or response with a body of the declared type. */
export function checkExchange(text: string): void {
  const { fields, body } = readExchange(text);
  const type = fields.find(([name]) => name === 'content-type')?.[1] ?? '';
  if (/\bjson\b|\+json/.test(type) && body !== '') JSON.parse(body);
  if (/urlencoded/.test(type) && !body.split(/\n?&/).every((part) => /^[\w.-]+=\S*$/.test(part.trim()))) {
    throw new Error('the body is no form');
  }
}
