import type { IncomingMessage } from 'node:http';

const NONE: readonly string[] = [];

/**
 * Every value of a field, in the order received. In: its name in lower case. Looks at the fields as they came, since
 * Node's `headersDistinct` makes lists of all of them for the one that is asked for.
 */
export function fieldValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  let values: string[] | undefined;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] as string;
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    if (values === undefined) values = [rawHeaders[at + 1] as string];
    else values.push(rawHeaders[at + 1] as string);
  }
  return values ?? NONE;
}
