const NONE: readonly string[] = [];

/**
 * Every value of a field, in the order received. Reads the raw fields, because Node's `headersDistinct` builds lists of
 * all fields when one is requested.
 * @param raw alternating names and values
 * @param name the field name in lower case
 */
export function fieldValues(raw: readonly string[], name: string): readonly string[] {
  let values: string[] | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const given = raw[at] as string;
    if (given.length !== name.length || given.toLowerCase() !== name) continue;
    if (values === undefined) values = [raw[at + 1] as string];
    else values.push(raw[at + 1] as string);
  }
  return values ?? NONE;
}
