import { z } from 'zod';
import { upstreamName } from './name.ts';
import { credentialLogin, refusalTime } from './own-sign-in.ts';
import { pattern } from './pattern.ts';
import { cookiePattern } from './session-login.ts';
import { duration } from './units.ts';
import { whoami } from './whoami.ts';

const path = z.string().regex(/^\/(?!\/)[\x21-\x7E]*$/, 'must be a path that begins with one /');
const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON pointer such as /token');
const statuses = z.array(z.int().min(200).max(499)).min(1);
const field = z.string().min(1).max(200);

const success = z
  .strictObject({
    status: statuses.optional().meta({ description: 'Statuses of success.' }),
    location: pattern.optional().meta({ description: 'A pattern (RE2) that Location matches.' }),
    notLocation: pattern.optional().meta({
      description: 'A pattern (RE2) that Location does not match, such as one of the sign-in page.',
    }),
    cookie: cookiePattern.optional().meta({
      description: 'A cookie that is set anew, by name, in which * is any number of characters.',
    }),
    pointer: pointer.optional().meta({ description: 'Where in a JSON answer there is something, such as /token.' }),
  })
  .refine((given) => Object.values(given).some((rule) => rule !== undefined), 'must have at least one rule');

const failure = z.strictObject({
  status: statuses.default([200, 301, 302, 303, 307, 308, 401, 422]).meta({
    description: 'Statuses that wrong credentials may have. Any other is a failure of the backend.',
  }),
  body: pattern.optional().meta({
    description:
      'A pattern (RE2) in the answer to wrong credentials. Left out: a page with status 200 must have the form again, or it is a failure of the backend.',
  }),
});

const lockedOut = z.strictObject({
  status: statuses.default([429]).meta({ description: 'Statuses of an account, or an address, that is locked out.' }),
  body: pattern.optional().meta({ description: 'A pattern (RE2) in the page that says so.' }),
  location: pattern.optional().meta({ description: 'A pattern (RE2) of the Location that leads to that page.' }),
  wait: duration.pipe(z.number().min(1)).prefault('5m').meta({
    description: 'How long members are told to wait where no Retry-After says it.',
  }),
});

/** The backend's own sign-in form, filled in by us. */
export const formLogin = z
  .strictObject({
    kind: z.literal('form'),
    upstream: upstreamName,
    page: path.optional().meta({
      description:
        'The sign-in page: its cookies and hidden fields are taken along. Left out, none is asked for first.',
    }),
    action: path.optional().meta({
      description: 'Where the credentials are posted. Left out, where the form of the page says.',
    }),
    format: z.enum(['form', 'json', 'query']).default('form').meta({
      description:
        'How they are sent: form (application/x-www-form-urlencoded), json, or query, in the address by GET, where servers write them into logs.',
    }),
    fields: z
      .strictObject({
        username: field.default('username').meta({ description: 'Of the login.' }),
        password: field.default('password').meta({ description: 'Of the password.' }),
      })
      .prefault({})
      .meta({ description: 'The names of the two fields.' }),
    extra: z.record(field, z.string().max(2000)).default({}).meta({ description: 'Further fields, such as a button.' }),
    success: success.optional().meta({
      description: 'What means success; every rule that is given must hold. Left out, whoami alone decides.',
    }),
    failure: failure.prefault({}).meta({ description: 'What else may mean wrong credentials.' }),
    lockedOut: lockedOut.prefault({}).meta({ description: 'What means that the backend wants no more attempts.' }),
    whoami: whoami.meta({
      description:
        'Who is signed in then, asked with the new cookies. {/pointer} in its path is a value of the JSON answer.',
    }),
    whoamiHeaders: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'must be the name of a header field'), z.string().min(1))
      .default({})
      .meta({
        description:
          'Fields that whoami is asked with, {/pointer} as in its path: { Authorization: "Bearer {/token}" }.',
      }),
    logout: path.optional().meta({
      description: 'Asked by GET afterwards, to end the session at the backend. Left out, it is only forgotten.',
    }),
    timeout: duration.prefault('10s').meta({ description: 'For all of it together.' }),
    refusalTime,
    ...credentialLogin,
  })
  .superRefine(({ page, action }, context) => {
    if (page !== undefined || action !== undefined) return;
    context.addIssue({ code: 'custom', path: ['page'], message: 'must be there, or action' });
  });

export type FormLoginConfig = z.output<typeof formLogin>;
