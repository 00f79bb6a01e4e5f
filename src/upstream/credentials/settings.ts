import { z } from 'zod';
import { cookiePattern, name, pointer, TOKEN, text } from '../../config/name.ts';
import { pattern } from '../../config/pattern.ts';
import { MEMBER_ID, serviceField } from '../../config/recheck.ts';
import { BACKEND_VALUE, secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { backendPath } from '../../config/urls.ts';

const scheme = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/, 'must be one word such as Bearer, or empty')
  .optional();

/** The member's own session at the backend, kept from the moment they approved the app. */
const session = z.strictObject({
  kind: z.literal('session'),
  cookies: z.array(cookiePattern).min(1),
  check: duration.prefault('1m'),
  over: z
    .strictObject({
      statuses: z.array(z.int().min(400).max(499)).default([401]),
      redirects: z.union([z.boolean(), pattern], 'must be true, false or a pattern').optional(),
    })
    .prefault({}),
  csrf: z
    .strictObject({
      cookie: z.string().regex(TOKEN, 'must be a cookie name'),
      header: serviceField.default('X-CSRF-Token'),
      path: backendPath.optional(),
    })
    .optional(),
});

/** A token for each member, issued by the backend. */
const token = z
  .strictObject({
    kind: z.literal('token'),
    mint: z.strictObject({
      upstream: name.optional(),
      method: z.enum(['GET', 'POST', 'PUT']).default('POST'),
      path: backendPath.refine(
        (given) => !given.replaceAll(MEMBER_ID, '').match(/[{}#]/),
        `must not contain { } or # except in ${MEMBER_ID}`,
      ),
      body: z.record(text, z.string()).optional(),
      key: z
        .strictObject({
          header: serviceField.default('Authorization'),
          scheme,
          secret: secret(BACKEND_VALUE),
        })
        .optional(),
    }),
    token: pointer.default('/token'),
    lifetime: duration.prefault('5m'),
    header: serviceField.default('Authorization'),
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
    header: serviceField.optional(),
    query: z
      .string()
      .regex(/^[A-Za-z0-9._~-]+$/, 'must be the name of a query parameter')
      .optional(),
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
