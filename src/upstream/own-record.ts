import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import type { Target } from './target.ts';

/** What stands in a route for the id of the member who asks: the principal's, whatever the request says. */
export const MEMBER_ID = '{member.id}';

/**
 * Keeps a route to the records of the member who asks. In: the canonical target and the principal. Out: the target as
 * the upstream may see it, or undefined when the path names somebody else's record.
 */
export type OwnRecord = (target: Target, principal: Principal) => Target | undefined;

/**
 * In: a route's path pattern and the query parameters that it sets. A segment `{member.id}` of the pattern must be the
 * member's own id, to the byte once decoded. A parameter that is `{member.id}` is set from the principal; what the
 * client sent under that name, in any spelling that a server might take for it, is removed.
 * Throws GatewayError `internal` for a principal that is no member: such a route serves nobody as anonymous.
 */
export function ownRecord(pattern: string, query: Readonly<Record<string, string>>): OwnRecord {
  const places = pattern.split('/').flatMap((segment, at) => (segment === MEMBER_ID ? [at] : []));
  const names = Object.keys(query);
  if (places.length === 0 && names.length === 0) return (target) => target;
  const folded = new Set(names.map((name) => flat(name)));

  return (target, principal) => {
    if (principal.kind !== 'member') throw new GatewayError('internal');
    const segments = target.path.split('/');
    // A canonical path decodes: what does not was refused at the door.
    if (places.some((at) => decodeURIComponent(segments[at] ?? '') !== principal.sub)) return undefined;
    if (names.length === 0) return target;
    const sent = target.query.slice(1).split('&');
    const kept = sent.filter((piece) => piece !== '' && !piece.split(';').some((part) => mayName(part, folded)));
    const set = names.map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(principal.sub)}`);
    return { path: target.path, query: `?${[...set, ...kept].join('&')}` };
  };
}

/** Whether some server might read this parameter as one of these names. What nobody can read for sure might be any. */
function mayName(parameter: string, folded: ReadonlySet<string>): boolean {
  let name = (parameter.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  // Decoded as often as it can be: behind two servers in a row it would be.
  for (let times = 0; name.includes('%'); times += 1) {
    try {
      name = decodeURIComponent(name);
    } catch {
      return true;
    }
    if (times === 3) return true;
  }
  // `id[]`, `id[0]`, `id[$ne]` are the parameter `id`; to PHP `user.id`, `user id` and `user[id` are `user_id`.
  const [base = ''] = name.split('[');
  return folded.has(flat(base)) || folded.has(flat(name)) || folded.has(flat(name.replaceAll(']', '')));
}

function flat(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: servers in C end a name there
  const [text = ''] = name.normalize('NFKC').split(/\x00/);
  return text
    .trim()
    .toUpperCase()
    .replace(/[\s.[]/g, '_');
}
