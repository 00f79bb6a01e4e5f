import { z } from 'zod';
import { forwardedBy } from '../decisions/settings.ts';
import { routeLimits } from '../limits/settings.ts';
import { roleRule } from '../roles/settings-rule.ts';
import { name, text } from './name.ts';

const ROUTE = /^([A-Z]+(\|[A-Z]+)*|\*) (\/\S*)$/;

/** What apps may access, and with which scopes. */
export const route = z.strictObject({
  match: z.string().regex(ROUTE, 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"'),
  upstream: name,
  scopes: z.array(z.string()).default([]),
  role: roleRule.optional(),
  anonymous: z.enum(['refuse', 'serve']).optional(),
  approve: z.boolean().optional(),
  query: z.record(text, z.string()).optional(),
  body: z.record(text, z.string()).optional(),
  rewrite: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;')
    .optional(),
  rewriteLinks: z.boolean().optional(),
  forwardedBy,
  ...routeLimits,
});

export type RouteConfig = z.output<typeof route>;

/** A path that is a separate protected resource. */
export const resource = z.strictObject({
  path: z.string().regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /api/v1'),
  name: text.optional(),
  scopes: z.array(z.string()).min(1),
});

const NAMED = /^\{([A-Za-z]\w*)\}$/;

/**
 * Splits a route's `match` into its methods (undefined for `*`, every method) and its path pattern, in which a named
 * segment is a wildcard.
 */
export function parseMatch(match: string): { methods: readonly string[] | undefined; pattern: string } {
  const space = match.indexOf(' ');
  const methods = match.slice(0, space);
  const segments = match.slice(space + 1).split('/');
  const pattern = segments.map((segment) => segment.replace(NAMED, '*')).join('/');
  return { methods: methods === '*' ? undefined : methods.split('|'), pattern };
}

/** The named segments of a route's `match`, such as `{courseId}`, with their index in a path that is split at `/`. */
export function segmentNames(match: string): ReadonlyMap<string, number> {
  const segments = match.slice(match.indexOf(' ') + 1).split('/');
  return new Map(
    segments.flatMap((segment, at) => {
      const name = segmentName(segment);
      return name === undefined ? [] : [[name, at] as const];
    }),
  );
}

/** The name of a segment such as `{courseId}`. */
export function segmentName(segment: string): string | undefined {
  return NAMED.exec(segment)?.[1];
}
