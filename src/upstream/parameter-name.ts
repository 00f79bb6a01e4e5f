import { decodedComponent, decodings } from '../http/percent.ts';

/**
 * Tells whether some server might read a name as one of those reserved for the member's id. A name that cannot be
 * decoded reliably counts as one.
 */
export type ParameterNames = ReturnType<typeof parameterNames>;

/** @param names the names as the upstream reads them */
export function parameterNames(names: Iterable<string>) {
  const folded = new Set([...names].map(fold));
  const isOne = (name: string) => {
    // `id[]`, `id[0]` and `id[$ne]` are the parameter `id`; servers in C end a name at NUL.
    const [base = ''] = name.split('[');
    const [start = ''] = name.split('\0');
    return [name, base, start].some((spelling) => folded.has(fold(spelling)));
  };
  const namesOne = (parameter: string) => {
    const name = decoded(parameter.split('=', 1)[0] ?? '');
    return name === undefined || isOne(name);
  };
  return {
    /** The parameters of a query, '' or '?…', under other names, as they were sent. Some servers split them at `;` too. */
    othersIn: (query: string): readonly string[] => {
      const pieces = query.slice(1).split('&');
      return pieces.filter((piece) => piece !== '' && !piece.split(';').some(namesOne));
    },
    /**
     * Whether a value contains a reserved name for a server that decodes before it splits the query: `a=1%26user_id%3D2`.
     */
    hiddenIn(query: string): boolean {
      const pieces = query.split('&').flatMap(decodings);
      const hidden = pieces.flatMap((piece) => piece.split(/[&;]/).slice(1));
      return hidden.some((inner) => isOne(inner.split('=', 1)[0] ?? ''));
    },
    // Deep copies take it for the prototype, whose members are then read like the object's own.
    /** Takes the member name of a JSON object. */
    inJson: (name: string): boolean => name === '__proto__' || isOne(name),
  };
}

/**
 * Decodes repeatedly, as two servers in a row would. Returns undefined if the text is encoded more than three times or
 * is malformed.
 */
function decoded(text: string): string | undefined {
  let name: string | undefined = text;
  for (let times = 0; name?.includes('%'); times += 1) name = times === 3 ? undefined : decodedComponent(name);
  return name;
}

/**
 * Removes what frameworks disagree on: case, compatibility forms, and everything that is neither a letter nor a digit.
 * Some frameworks treat `user_id`, `userId`, `user.id`, `user[id` and `User-ID` as one name.
 */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
