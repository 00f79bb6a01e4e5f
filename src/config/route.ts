import { z } from 'zod';
import { forwardedBy } from '../decisions/settings.ts';
import { routeLimits } from '../limits/settings.ts';
import { name, text } from './name.ts';

const ROUTE = /^([A-Z]+(\|[A-Z]+)*|\*) (\/\S*)$/;

/** What apps may access, and with which scopes. */
export const route = z.strictObject({
  match: z.string().regex(ROUTE, 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"').meta({
    description:
      'Methods and a path. `*` matches one path segment, a final `**` matches the rest, and `{member.id}` matches only the ID of the member the token belongs to.',
  }),
  upstream: name.describe('The upstream that handles it: a name in `upstreams`.'),
  scopes: z.array(z.string()).default([]).meta({
    description: 'Scopes the token must have, all of them. With [], any member’s token will do.',
  }),
  anonymous: z.enum(['refuse', 'serve']).optional().meta({
    description:
      'What happens to requests without a token: `refuse` (401) or `serve`. Defaults to the top-level `anonymous`.',
  }),
  query: z.record(text, z.string()).optional().meta({
    description:
      'Query parameters set from the member the token belongs to: { user_id: "{member.id}" }. Whatever the client sends under these names is removed, from the body too; a body must then be a JSON object of at most 1MiB.',
  }),
  body: z.record(text, z.string()).optional().meta({
    description:
      'Top-level properties of the JSON body set from the member the token belongs to: { user_id: "{member.id}" }. Requests must then have a JSON object of at most 1MiB as their body. Whatever the client sends under these names, in the body or the query, is removed. Nested objects are not inspected.',
  }),
  rewrite: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;')
    .optional()
    .describe(
      'Path at the upstream, with the same wildcards as `match` in the same order; `{member.id}` is the ID of the member the token belongs to. Defaults to the path of the request.',
    ),
  rewriteLinks: z
    .boolean()
    .optional()
    .describe(
      'Also replaces links in JSON responses by their public addresses: each string that is a complete URL of the upstream, or an absolute path there, which a route leads to. Links in response header fields are replaced on every route with `rewrite`. Responses are then fetched uncompressed and whole. A gateway cannot do it.',
    ),
  forwardedBy,
  ...routeLimits,
});

/** A path that is a separate protected resource. */
export const resource = z.strictObject({
  path: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /api/v1')
    .describe('Path of the resource. Its identifier is the origin plus this path.'),
  name: text.optional().describe('Name shown to apps.'),
  scopes: z.array(z.string()).min(1).describe('Scopes that a token for it may have.'),
});

/** Splits a route's `match` into its methods (undefined for `*`, every method) and its path pattern. */
export function parseMatch(match: string): { methods: readonly string[] | undefined; pattern: string } {
  const space = match.indexOf(' ');
  const methods = match.slice(0, space);
  return { methods: methods === '*' ? undefined : methods.split('|'), pattern: match.slice(space + 1) };
}
