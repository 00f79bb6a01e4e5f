import { segmentName } from '../../config/route.ts';
import type { JsonObject } from '../../http/json-object.ts';

/** A path of an OpenAPI document, with its parameters. */
export type PathTemplate = ReturnType<typeof templateOf>;

const MEMBER_ID = '{member.id}';

/**
 * Converts a configured route's pattern to path templates. A pattern that ends in `**` gives two, without and with the
 * rest, because an OpenAPI parameter cannot be empty. `*` and `**` become the parameters `part`, `part2` …, `rest`;
 * `{member.id}` becomes `member_id`; a named segment keeps its name.
 */
export function pathTemplates(pattern: string): readonly PathTemplate[] {
  const segments = pattern.slice(1).split('/');
  const whole = templateOf(segments);
  if (segments.at(-1) !== '**') return [whole];
  const stem = segments.slice(0, -1);
  return stem.length === 0 ? [{ path: '/', parameters: [] }, whole] : [templateOf(stem), whole];
}

function templateOf(segments: readonly string[]) {
  const parameters: JsonObject[] = [];
  const seen = new Map<string, number>();
  const named = (name: string, description: string): string => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const unique = count === 1 ? name : `${name}${count}`;
    parameters.push({ name: unique, in: 'path', required: true, description, schema: { type: 'string' } });
    return `{${unique}}`;
  };
  const path = segments.map((segment) => {
    if (segment === '**') return named('rest', 'The rest of the path, which may have several segments.');
    const name = segment === '*' ? 'part' : segmentName(segment);
    if (name !== undefined) return named(name, 'One segment of the path.');
    if (segment === MEMBER_ID) return named('member_id', MEMBER_ID_TEXT);
    // Literal braces would be read as a parameter.
    return segment.replace(/[{}]/g, encodeURIComponent);
  });
  return { path: `/${path.join('/')}`, parameters };
}

/** Description of a path parameter that must be the id of the requesting member. */
export const MEMBER_ID_TEXT =
  'The ID of the requesting member: `sub` from userinfo. Any other ID is answered with 403.';

/** The path without the names of its parameters. OpenAPI considers templates with the same key identical. */
export function templateKey(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}');
}
