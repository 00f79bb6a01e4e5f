import { z } from 'zod';
import { requestField } from '../http/header-names.ts';
import { answerFormat, checkSelectors } from '../login/whoami/settings.ts';
import { RECHECK } from './constants.ts';
import { name, TOKEN } from './name.ts';
import { HEADER_VALUE, secret } from './secret.ts';
import { duration } from './units.ts';
import { backendPath } from './urls.ts';

/** Placeholder for the member's id in a path. */
export const MEMBER_ID = '{member.id}';

/** Name of a request header that carries a secret to a backend. */
export const serviceField = z
  .string()
  .regex(/^[!#$%&'*+\-.^`|~0-9A-Za-z]+$/, 'must be the name of a header field')
  .refine(
    (field) => ['pass', 'authorization'].includes(requestField(field)),
    'is a header field that coursegate sets itself or never sends: choose another name',
  );

const path = backendPath
  .refine((given) => given.includes(MEMBER_ID), `must contain ${MEMBER_ID}, where the id of the member goes`)
  .refine(
    (given) => !given.replaceAll(MEMBER_ID, '').match(/[{}#]/),
    `must not contain { } or # except in ${MEMBER_ID}`,
  );

/** How the gate asks the backend about a member, without a browser. */
export const memberQuestion = {
  upstream: name,
  path: path,
  key: z
    .strictObject({
      header: serviceField.default('Authorization'),
      scheme: z.string().regex(TOKEN, 'must be one word such as Bearer').optional(),
      secret: secret(HEADER_VALUE),
    })
    .optional(),
};

/** Whether the member still exists. */
const recheck = z
  .strictObject({
    ...memberQuestion,
    interval: duration.prefault('1h'),
    format: answerFormat,
    active: z.string().optional(),
    version: z.string().optional(),
    unavailable: z.enum(['refuse', 'allow']).default('refuse'),
  })
  .superRefine(({ format, active, version }, context) => {
    checkSelectors(
      format,
      [
        [['active'], active],
        [['version'], version],
      ],
      context,
    );
  })
  .transform((given) => ({ ...given, ...RECHECK }));

export type RecheckConfig = z.output<typeof recheck>;
export type MemberQuestionConfig = Pick<RecheckConfig, keyof typeof memberQuestion | 'timeout'>;

/** Settings that every kind of login has. */
export const everyLogin = {
  recheck: recheck.optional(),
};
