/** One challenge of a WWW-Authenticate field (RFC 9110 section 11.6.1). */
export interface ReadChallenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /[\s,]*([!#$%&'*+.^_`|~\w-]+)/y;
const VALUE = /\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y;

/** Parses a WWW-Authenticate field with any number of challenges, up to the first part that is invalid. */
function readChallenges(value: string): readonly ReadChallenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const name = TOKEN.exec(value)?.[1];
    if (name === undefined) return found;
    at = TOKEN.lastIndex;
    VALUE.lastIndex = at;
    const given = found.length === 0 ? null : VALUE.exec(value);
    if (given === null) found.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else {
      at = VALUE.lastIndex;
      found.at(-1)?.parameters.set(name.toLowerCase(), (given[1] ?? given[2] ?? '').replace(/\\(.)/g, '$1'));
    }
  }
}

/** The Bearer challenge of a field (RFC 6750 section 3). */
export function bearerChallenge(value: string): ReadChallenge | undefined {
  return readChallenges(value).find(({ scheme }) => scheme === 'bearer');
}
