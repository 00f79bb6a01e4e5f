import { z } from 'zod';
import { cookiePattern, pointer, text, upstreamName } from '../../config/name.ts';
import { pattern } from '../../config/pattern.ts';
import { duration } from '../../config/units.ts';
import { credentialLogin } from '../settings.ts';
import { whoami } from '../whoami/settings.ts';

const path = z.string().regex(/^\/(?!\/)[\x21-\x7E]*$/, 'must be a path that begins with one /');
const statuses = z.array(z.int().min(200).max(499)).min(1);
const field = text.max(200);

const success = z
  .strictObject({
    status: statuses.optional().describe('Statuses that mean success.'),
    location: pattern.optional().describe('Pattern (RE2) that Location matches.'),
    notLocation: pattern
      .optional()
      .describe('Pattern (RE2) that Location does not match, such as that of the sign-in page.'),
    cookie: cookiePattern
      .optional()
      .describe('Name of a cookie that the response sets. * matches any number of characters.'),
    pointer: pointer.optional().describe('JSON pointer to something that a JSON response contains, such as /token.'),
  })
  .refine((given) => Object.values(given).some((rule) => rule !== undefined), 'must have at least one rule');

const failure = z.strictObject({
  status: statuses
    .default([200, 301, 302, 303, 307, 308, 401, 422])
    .describe('Statuses that may mean wrong credentials. Any other is a failure of the backend.'),
  body: pattern.optional().meta({
    description:
      'Pattern (RE2) in the response to wrong credentials. If omitted, a page with status 200 must contain the form again; otherwise it is a failure of the backend.',
  }),
});

const lockedOut = z.strictObject({
  status: statuses.default([429]).describe('Statuses that mean the account or the address is locked out.'),
  body: pattern.optional().describe('Pattern (RE2) in the page that says so, or in the Location of a redirect to it.'),
});

/** Login by the backend's own sign-in form, which the gate submits. */
export const formLogin = z
  .strictObject({
    kind: z.literal('form'),
    upstream: upstreamName,
    page: path.optional().meta({
      description:
        'Sign-in page, requested first for its cookies and hidden fields. If omitted, the credentials are posted right away.',
    }),
    action: path
      .optional()
      .describe('Path that the credentials are posted to. Defaults to the action of the form on the page.'),
    format: z.enum(['form', 'json', 'query']).default('form').meta({
      description:
        'How they are sent: `form` (application/x-www-form-urlencoded), `json`, or `query` (GET with query parameters, which servers write to their logs).',
    }),
    fields: z
      .strictObject({
        username: field.default('username').describe('Field for the login.'),
        password: field.default('password').describe('Field for the password.'),
      })
      .prefault({})
      .describe('Names of the two fields.'),
    extra: z.record(field, z.string().max(2000)).default({}).meta({
      description: 'Further fields to send, such as that of a button.',
    }),
    success: success
      .optional()
      .describe('What means success. Every rule given must hold. If omitted, `whoami` alone decides.'),
    failure: failure.prefault({}).describe('What may mean wrong credentials.'),
    lockedOut: lockedOut.prefault({}).describe('What means that the backend accepts no more attempts for now.'),
    whoami: whoami.describe(
      'Where the backend then says who is signed in, requested with the new cookies. {/pointer} in its path is replaced by a value from the JSON response.',
    ),
    whoamiHeaders: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'must be the name of a header field'), text)
      .default({})
      .describe(
        'Headers for the whoami request, with {/pointer} as in its path: { Authorization: "Bearer {/token}" }.',
      ),
    logout: path.optional().meta({
      description:
        'Requested with GET afterwards, to end the session at the backend. If omitted, the gate only discards its cookies.',
    }),
    timeout: duration.prefault('10s').describe('Time limit for the whole sign-in.'),
    ...credentialLogin,
  })
  .superRefine(({ page, action }, context) => {
    if (page !== undefined || action !== undefined) return;
    context.addIssue({ code: 'custom', path: ['page'], message: 'is missing: set page or action' });
  });

export type FormLoginConfig = z.output<typeof formLogin>;
