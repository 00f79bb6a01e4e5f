import type { Json } from './json.ts';

/** A path of an OpenAPI document with the parameters in it. */
export interface PathTemplate {
  readonly path: string;
  readonly parameters: readonly Json[];
}

const MEMBER_ID = '{member.id}';

/**
 * The paths that a route's pattern stands for. In: the pattern as the operator wrote it. Out: one template, or, where it
 * ends in `**`, one without the rest and one with it: a parameter of OpenAPI is never empty. `*` and `**` become
 * parameters `part`, `part2` …, `rest`; `{member.id}` becomes `member_id`.
 */
export function pathTemplates(pattern: string): readonly PathTemplate[] {
  const segments = pattern.slice(1).split('/');
  const whole = templateOf(segments);
  if (segments.at(-1) !== '**') return [whole];
  const stem = segments.slice(0, -1);
  return stem.length === 0 ? [{ path: '/', parameters: [] }, whole] : [templateOf(stem), whole];
}

function templateOf(segments: readonly string[]): PathTemplate {
  const parameters: Json[] = [];
  const seen = new Map<string, number>();
  const named = (name: string, description: string): string => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const unique = count === 1 ? name : `${name}${count}`;
    parameters.push({ name: unique, in: 'path', required: true, description, schema: { type: 'string' } });
    return `{${unique}}`;
  };
  const path = segments.map((segment) => {
    if (segment === '**')
      return named('rest', 'The rest of the path, which may have several parts with / between them.');
    if (segment === '*') return named('part', 'One part of the path.');
    if (segment === MEMBER_ID) return named('member_id', MEMBER_ID_TEXT);
    // Braces would be a parameter.
    return segment.replace(/[{}]/g, encodeURIComponent);
  });
  return { path: `/${path.join('/')}`, parameters };
}

/** Which value a path parameter must have that a route keeps to the member who asks. */
export const MEMBER_ID_TEXT = 'The id of the member who asks: `sub` of userinfo. Any other is answered 403.';

/** What two templates have in common that OpenAPI takes for the same path: all but the names of parameters. */
export function templateKey(path: string): string {
  return path.replace(/\{[^}]*\}/g, '{}');
}
