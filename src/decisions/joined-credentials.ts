/** What a repeated field looks like after Envoy has joined it. Neither a token nor a proof contains a comma. */
const BETWEEN: Readonly<Record<string, RegExp>> = {
  authorization: /,\s*(?=(?:bearer|dpop|basic)\b)/i,
  dpop: /,\s*/,
};

/**
 * Takes repeated credentials apart again, so that they are refused as such.
 * @param rawHeaders alternating names and values
 */
export function separateCredentials(rawHeaders: readonly string[]): string[] {
  const fields: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    const between = BETWEEN[name.toLowerCase()];
    for (const one of between === undefined ? [value] : value.split(between)) fields.push(name, one);
  }
  return fields;
}
