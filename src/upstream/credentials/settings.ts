import { z } from 'zod';
import { cookiePattern, pointer, TOKEN, text, upstreamName } from '../../config/name.ts';
import { pattern } from '../../config/pattern.ts';
import { MEMBER_ID, serviceField } from '../../config/recheck.ts';
import { BACKEND_VALUE, secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { backendPath } from '../../config/urls.ts';

const scheme = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/, 'must be one word such as Bearer, or empty')
  .optional()
  .describe('Word before it. Defaults to Bearer in Authorization, and to none in other headers.');

/** The member's own session at the backend, kept from the moment they approved the app. */
const session = z.strictObject({
  kind: z.literal('session'),
  cookies: z.array(cookiePattern).min(1).meta({
    description:
      'Names of the session cookies to keep; no others are kept. * matches any number of characters. They are stored encrypted with each connection and deleted with it.',
  }),
  check: duration.prefault('1m').meta({
    description:
      'How often the backend is asked whose session the stored cookies belong to (`login.whoami`). If it is another member’s by now, the connection ends. 0s asks with each request.',
  }),
  over: z
    .strictObject({
      statuses: z.array(z.int().min(400).max(499)).default([401]).meta({
        description:
          'Response statuses that mean the session is over. For all but 401, and for 403 always, `login.whoami` is asked first.',
      }),
      redirects: z.union([z.boolean(), pattern], 'must be true, false or a pattern').optional().meta({
        description:
          'Redirects that mean the session is over: true (any), false (none), or those whose Location matches this pattern (RE2). Defaults to redirects to `login.loginUrl`.',
      }),
    })
    .prefault({})
    .describe('How the backend says that the session is over. The connection of the app then ends.'),
  csrf: z
    .strictObject({
      cookie: z.string().regex(TOKEN, 'must be a cookie name').describe('Name of the cookie.'),
      header: serviceField.default('X-CSRF-Token').describe('Header in which the backend expects the token.'),
      path: backendPath
        .optional()
        .describe('Path requested with GET to get the cookie if it is not there yet, such as /sanctum/csrf-cookie.'),
    })
    .optional()
    .describe(
      'CSRF token that the backend sets as a cookie and expects in a header of every request that changes something.',
    ),
});

/** A token for each member, issued by the backend. */
const token = z
  .strictObject({
    kind: z.literal('token'),
    mint: z
      .strictObject({
        upstream: upstreamName.optional().describe('Upstream that issues it. Defaults to this one.'),
        method: z.enum(['GET', 'POST', 'PUT']).default('POST').describe('Method of the call.'),
        path: backendPath
          .refine(
            (given) => !given.replaceAll(MEMBER_ID, '').match(/[{}#]/),
            `must not contain { } or # except in ${MEMBER_ID}`,
          )
          .describe('Path of the call, with {member.id} for the ID of the member.'),
        body: z.record(text, z.string()).optional().describe('Properties of a JSON body: { user_id: "{member.id}" }.'),
        key: z
          .strictObject({
            header: serviceField.default('Authorization').describe('Name of the header.'),
            scheme,
            secret: secret(BACKEND_VALUE),
          })
          .optional()
          .describe('Header with which the gate authenticates to the backend.'),
      })
      .describe('Call that issues a token for a member. Its path or body must name the member.'),
    token: pointer.default('/token').describe('JSON pointer to the token in the response.'),
    lifetime: duration.prefault('5m').meta({
      description:
        'How long a token is used if the response has no `expires_in` (in seconds). If it does, the upper limit.',
    }),
    header: serviceField.default('Authorization').describe('Header that carries it in the member’s requests.'),
    scheme,
  })
  .superRefine(({ mint }, context) => {
    if (mint.path.includes(MEMBER_ID) || Object.values(mint.body ?? {}).includes(MEMBER_ID)) return;
    const message = `must contain ${MEMBER_ID}, here or as a value in the body: otherwise the token would not be the member's`;
    context.addIssue({ code: 'custom', path: ['mint', 'path'], message });
  });

/** One secret for all members. Only for requests that the gate limits to the member's own records. */
const key = z
  .strictObject({
    kind: z.literal('key'),
    header: serviceField.optional().describe('Header it is sent in. Set this or `query`.'),
    query: z
      .string()
      .regex(/^[A-Za-z0-9._~-]+$/, 'must be the name of a query parameter')
      .optional()
      .describe('Query parameter it is sent in, which servers write to their logs. Set this or `header`.'),
    scheme,
    secret: secret(BACKEND_VALUE),
  })
  .superRefine(({ header, query }, context) => {
    if ((header === undefined) !== (query === undefined)) return;
    context.addIssue({ code: 'custom', path: [], message: 'must have either `header` or `query`' });
  });

/** A credential that the backend already accepts, for backends that cannot be changed to read `identity`. */
export const upstreamCredential = z.discriminatedUnion('kind', [session, token, key]);

export type CredentialConfig = z.output<typeof upstreamCredential>;
export type SessionCredential = Extract<CredentialConfig, { kind: 'session' }>;
export type TokenCredential = Extract<CredentialConfig, { kind: 'token' }>;
export type KeyCredential = Extract<CredentialConfig, { kind: 'key' }>;

/** The header a credential is sent in, in lower case; undefined when it is not sent in a header. */
export function credentialField(credential: CredentialConfig | undefined): string | undefined {
  switch (credential?.kind) {
    case 'token':
    case 'key':
      return credential.header?.toLowerCase();
    case 'session':
      return 'cookie';
    case undefined:
      return undefined;
  }
}

/** The cookies that upstreams need for their sessions, as names that may contain `*`; undefined if there are none. */
export function keptCookies(
  upstreams: Readonly<Record<string, { readonly credential?: CredentialConfig | undefined }>>,
): readonly string[] | undefined {
  const cookies = Object.values(upstreams).flatMap(({ credential }) =>
    credential?.kind === 'session'
      ? [...credential.cookies, ...(credential.csrf === undefined ? [] : [credential.csrf.cookie])]
      : [],
  );
  return cookies.length === 0 ? undefined : cookies;
}
