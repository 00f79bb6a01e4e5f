import { z } from 'zod';
import { cookiePattern, name, pointer, text } from '../../config/name.ts';
import { pattern } from '../../config/pattern.ts';
import { duration } from '../../config/units.ts';
import { credentialLogin } from '../settings.ts';
import { whoami } from '../whoami/settings.ts';

const path = z.string().regex(/^\/(?!\/)[\x21-\x7E]*$/, 'must be a path that begins with one /');
const statuses = z.array(z.int().min(200).max(499)).min(1);
const field = text.max(200);

const success = z
  .strictObject({
    status: statuses.optional(),
    location: pattern.optional(),
    notLocation: pattern.optional(),
    cookie: cookiePattern.optional(),
    pointer: pointer.optional(),
  })
  .refine((given) => Object.values(given).some((rule) => rule !== undefined), 'must have at least one rule');

const failure = z.strictObject({
  status: statuses.default([200, 301, 302, 303, 307, 308, 401, 422]),
  body: pattern.optional(),
});

const lockedOut = z.strictObject({
  status: statuses.default([429]),
  body: pattern.optional(),
});

/** Login by the backend's own sign-in form, which the gate submits. */
export const formLogin = z
  .strictObject({
    kind: z.literal('form'),
    upstream: name,
    page: path.optional(),
    action: path.optional(),
    format: z.enum(['form', 'json', 'query']).default('form'),
    fields: z
      .strictObject({
        username: field.default('username'),
        password: field.default('password'),
      })
      .prefault({}),
    extra: z.record(field, z.string().max(2000)).default({}),
    success: success.optional(),
    failure: failure.prefault({}),
    lockedOut: lockedOut.prefault({}),
    whoami,
    whoamiHeaders: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'must be the name of a header field'), text)
      .default({}),
    logout: path.optional(),
    timeout: duration.prefault('10s'),
    ...credentialLogin,
  })
  .superRefine(({ page, action }, context) => {
    if (page !== undefined || action !== undefined) return;
    context.addIssue({ code: 'custom', path: ['page'], message: 'is missing: set page or action' });
  });

export type FormLoginConfig = z.output<typeof formLogin>;
