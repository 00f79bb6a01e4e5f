import { z } from 'zod';
import { requestField } from '../http/header-names.ts';
import { answerFormat, checkSelectors } from '../login/whoami/settings.ts';
import { RECHECK } from './constants.ts';
import { TOKEN, upstreamName } from './name.ts';
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

/** How the gate asks the backend, without a browser, whether a member still exists. */
const recheck = z
  .strictObject({
    upstream: upstreamName,
    path: path.describe('Path to request, with {member.id} where the ID goes, such as /internal/members/{member.id}.'),
    key: z
      .strictObject({
        header: serviceField.default('Authorization').describe('Name of the header.'),
        scheme: z.string().regex(TOKEN, 'must be one word such as Bearer').optional().meta({
          description: 'Word before the secret, such as Bearer.',
        }),
        secret: secret(HEADER_VALUE),
      })
      .optional()
      .describe('Header with which the gate authenticates to the backend.'),
    interval: duration.prefault('1h').meta({
      description:
        'How long a response about a member is reused, for all of the member’s apps. 0s asks at every refresh.',
    }),
    format: answerFormat,
    active: z.string().optional().meta({
      description:
        'Where the response has true, 1, false or 0 for whether the member is active. If omitted, any 200 means active.',
    }),
    version: z.string().optional().meta({
      description:
        'Where the response has the value that changes when all of the member’s connections must end: the same value as in `whoami.version`.',
    }),
    unavailable: z.enum(['refuse', 'allow']).default('refuse').meta({
      description:
        'What a refresh gets when the backend cannot answer: `refuse` (503, and the refresh token stays valid) or `allow` (a new token).',
    }),
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

/** Settings that every kind of login has. */
export const everyLogin = {
  recheck: recheck.optional().meta({
    description:
      'Asks the backend about the member when an app refreshes its token, and disconnects the apps of members who no longer exist.',
  }),
};
