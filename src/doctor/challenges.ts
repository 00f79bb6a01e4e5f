/** One challenge of a WWW-Authenticate field (RFC 9110 §11.6.1). */
export interface ReadChallenge {
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /[\s,]*([!#$%&'*+.^_`|~\w-]+)/y;
const VALUE = /\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y;

/** Reads a WWW-Authenticate field that may hold several challenges; what cannot be read ends it. */
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

/** The Bearer challenge of a field (RFC 6750 §3). */
export function bearerChallenge(value: string): ReadChallenge | undefined {
  return readChallenges(value).find(({ scheme }) => scheme === 'bearer');
}
