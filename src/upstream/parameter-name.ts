import { decodedOnce } from './percent.ts';

/** Whether some server might read a name as one of those that are the member's. What nobody can read for sure might be any. */
export interface ParameterNames {
  /** In: one piece of a query, between two `&`. A `;` divides it further to some. */
  inQuery(piece: string): boolean;
  /** Whether a value holds one of them when it is decoded before the query is divided: `a=1%26user_id%3D2`. */
  hiddenIn(query: string): boolean;
  /** In: the name of a member of a JSON object. */
  inJson(name: string): boolean;
}

/** In: the names as the upstream reads them. */
export function parameterNames(names: Iterable<string>): ParameterNames {
  const folded = new Set([...names].map(fold));
  const isOne = (name: string) => {
    // `id[]`, `id[0]`, `id[$ne]` are the parameter `id`; servers in C end a name at NUL.
    const [base = ''] = name.split('[');
    const [start = ''] = name.split('\0');
    return [name, base, start].some((spelling) => folded.has(fold(spelling)));
  };
  return {
    inQuery: (piece) =>
      piece.split(';').some((parameter) => {
        const name = decoded(parameter.split('=', 1)[0] ?? '');
        return name === undefined || isOne(name);
      }),
    hiddenIn(query) {
      return query.split('&').some((piece) => {
        let level = piece;
        for (let times = 0; times < 3 && level.includes('%'); times += 1) {
          level = decodedOnce(level);
          if (
            level
              .split(/[&;]/)
              .slice(1)
              .some((inner) => isOne(inner.split('=', 1)[0] ?? ''))
          )
            return true;
        }
        return false;
      });
    },
    // Deep copies take it for the prototype, whose members are then read like the object's own.
    inJson: (name) => name === '__proto__' || isOne(name),
  };
}

/** Decoded as often as it can be, as it would be behind two servers in a row; undefined: nobody can say what it is. */
function decoded(text: string): string | undefined {
  let name = text;
  for (let times = 0; name.includes('%'); times += 1) {
    if (times === 3) return undefined;
    try {
      name = decodeURIComponent(name);
    } catch {
      return undefined;
    }
  }
  return name;
}

/**
 * A name without what frameworks disagree on: case, compatibility forms, and all that is neither letter nor digit.
 * `user_id`, `userId`, `user.id`, `user[id` and `User-ID` are one to some of them.
 */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
