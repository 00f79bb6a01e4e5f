import { z } from 'zod';
import { upstreamName } from './name.ts';
import { pattern } from './pattern.ts';
import { MEMBER_ID, serviceField } from './recheck.ts';
import { secretReference } from './secret-reference.ts';
import { cookiePattern } from './session-login.ts';
import { duration } from './units.ts';

const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON pointer such as /token');

const scheme = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/, 'must be one word such as Bearer, or empty')
  .optional()
  .meta({ description: 'A word before it. Left out: Bearer in Authorization, none in other fields.' });

const path = z.string().regex(/^\/[\x21-\x7E]*$/, 'must begin with /');

/** The member's own session at the backend, kept from when they approved the app. */
const session = z.strictObject({
  kind: z.literal('session'),
  cookies: z.array(cookiePattern).min(1).meta({
    description:
      'The cookies of its session, and no others: names, in which * is any number of characters. Kept sealed with each approval, and ended with it.',
  }),
  check: duration.prefault('1m').meta({
    description:
      'How often the backend is asked, with the cookies that are kept, whose session it is (login.whoami): one that has passed to another member ends the connection. 0s: with each request.',
  }),
  over: z
    .strictObject({
      statuses: z.array(z.int().min(400).max(499)).default([401]).meta({
        description: 'Answers that mean that the session is over.',
      }),
      redirects: z.union([z.boolean(), pattern], 'must be true, false or a pattern').optional().meta({
        description:
          'Whether a redirect means so: any, none, or those whose Location matches this pattern (RE2). Left out: one to login.loginUrl.',
      }),
    })
    .prefault({})
    .meta({ description: 'How it says that nobody is signed in any more. The connection of the app then ends.' }),
  csrf: z
    .strictObject({
      cookie: z
        .string()
        .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'must be a cookie name')
        .meta({ description: 'The name of that cookie.' }),
      header: serviceField.default('X-CSRF-Token').meta({ description: 'The field it wants it back in.' }),
      path: path.optional().meta({
        description: 'What is asked with GET for that cookie where it is not there yet, such as /sanctum/csrf-cookie.',
      }),
    })
    .optional()
    .meta({ description: 'A token that it sets as a cookie, and wants back in a field with every change.' }),
});

/** A token of the backend's own for each member. */
const token = z
  .strictObject({
    kind: z.literal('token'),
    mint: z
      .strictObject({
        upstream: upstreamName.optional().meta({ description: 'Who is asked for it. Left out, the same.' }),
        method: z.enum(['GET', 'POST', 'PUT']).default('POST').meta({ description: 'Of that call.' }),
        path: path
          .refine(
            (given) => !given.replaceAll(MEMBER_ID, '').match(/[{}#]/),
            `must have no { } or # besides ${MEMBER_ID}`,
          )
          .meta({ description: 'Its path, in which {member.id} is the id of the member.' }),
        body: z.record(z.string().min(1), z.string()).optional().meta({
          description: 'The members of a JSON body: { user_id: "{member.id}" }.',
        }),
        key: z
          .strictObject({
            header: serviceField.default('Authorization').meta({ description: 'Its name.' }),
            scheme,
            secret: secretReference,
          })
          .optional()
          .meta({ description: 'The field that shows the backend that it is the gate who asks.' }),
      })
      .meta({ description: 'The call that makes a token for a member, whom its path or body names.' }),
    token: pointer.default('/token').meta({ description: 'Where the token is in the JSON answer.' }),
    expiresIn: pointer.optional().meta({ description: 'Where its lifetime is, in seconds.' }),
    lifetime: duration.prefault('5m').meta({
      description: 'How long one is used, where the answer does not say; the most, where it does.',
    }),
    header: serviceField
      .default('Authorization')
      .meta({ description: 'The field that requests of the member carry it in.' }),
    scheme,
  })
  .superRefine(({ mint }, context) => {
    if (mint.path.includes(MEMBER_ID) || Object.values(mint.body ?? {}).includes(MEMBER_ID)) return;
    const message = `must name ${MEMBER_ID}, in the path or as a value of the body: a token of nobody is no member's`;
    context.addIssue({ code: 'custom', path: ['mint', 'path'], message });
  });

/** One secret for all members: only where the request itself is kept to the member's own. */
const key = z
  .strictObject({
    kind: z.literal('key'),
    header: serviceField.optional().meta({ description: 'The field it is sent in; or `query`.' }),
    query: z
      .string()
      .regex(/^[A-Za-z0-9._~-]+$/, 'must be the name of a query parameter')
      .optional()
      .meta({ description: 'The query parameter it is sent in, where servers write it into logs; or `header`.' }),
    scheme,
    secret: secretReference,
  })
  .superRefine(({ header, query }, context) => {
    if ((header === undefined) !== (query === undefined)) return;
    context.addIssue({ code: 'custom', path: [], message: 'needs one of `header` and `query`' });
  });

/** What a backend that cannot be changed wants to see, besides who we say the member is. */
export const upstreamCredential = z.discriminatedUnion('kind', [session, token, key]);

export type CredentialConfig = z.output<typeof upstreamCredential>;
export type SessionCredential = Extract<CredentialConfig, { kind: 'session' }>;
export type TokenCredential = Extract<CredentialConfig, { kind: 'token' }>;
export type KeyCredential = Extract<CredentialConfig, { kind: 'key' }>;

/** In: a credential. Out: the header field that it is sent in, in lower case; undefined: another place. */
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
