import { z } from 'zod';
import { requestField } from '../http/header-names.ts';
import { upstreamName } from './name.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';
import { answerFormat, checkSelectors } from './whoami.ts';

/** What stands in the path for the id of the member. */
export const MEMBER_ID = '{member.id}';

/** A field in which a secret goes to a backend. */
export const serviceField = z
  .string()
  .regex(/^[!#$%&'*+\-.^`|~0-9A-Za-z]+$/, 'must be the name of a header field')
  .refine(
    (field) => ['pass', 'authorization'].includes(requestField(field)),
    'is a field that is set otherwise, or never sent: take another name',
  );

const path = z
  .string()
  .regex(/^\/[\x21-\x7E]*$/, 'must begin with /')
  .refine((given) => given.includes(MEMBER_ID), `must have ${MEMBER_ID} in it, where the id of the member goes`)
  .refine((given) => !given.replaceAll(MEMBER_ID, '').match(/[{}#]/), `must have no { } or # besides ${MEMBER_ID}`);

/** How the backend is asked, without a browser, whether a member is still one. */
const recheck = z
  .strictObject({
    upstream: upstreamName,
    path: path.meta({
      description: 'What is asked, with {member.id} where the id goes, such as /internal/members/{member.id}.',
    }),
    key: z
      .strictObject({
        header: serviceField.default('Authorization').meta({ description: 'Its name.' }),
        scheme: z
          .string()
          .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'must be one word such as Bearer')
          .optional()
          .meta({ description: 'A word before the secret, such as Bearer.' }),
        secret: secretReference,
      })
      .optional()
      .meta({ description: 'The field that shows the backend that it is the gate who asks.' }),
    interval: duration.prefault('1h').meta({
      description: 'How long an answer about a member is good for, whichever app refreshes; 0s: ask at each refresh.',
    }),
    timeout: duration.prefault('3s').meta({ description: 'How long an answer is waited for.' }),
    format: answerFormat,
    active: z.string().optional().meta({
      description: 'Where true, 1, false or 0 says whether the member may use the service. Left out, any 200 says so.',
    }),
    version: z.string().optional().meta({
      description: 'Where the value is that changes when all that the member let in must end: the same as of whoami.',
    }),
    gone: z.array(z.int().min(400).max(499)).default([404, 410]).meta({
      description: 'Statuses that mean there is no such member any more.',
    }),
    unavailable: z.enum(['refuse', 'allow']).default('refuse').meta({
      description:
        'What a refresh gets when the backend cannot say: 503, and its token stays good; or a new token all the same.',
    }),
  })
  .superRefine(({ format, active, version, gone }, context) => {
    checkSelectors(
      format,
      [
        [['active'], active],
        [['version'], version],
      ],
      context,
    );
    // The backend refuses us, or has too much to do: that says nothing of the member.
    for (const [index, status] of gone.entries()) {
      if (![401, 407, 408, 429].includes(status)) continue;
      context.addIssue({
        code: 'custom',
        path: ['gone', index],
        message: 'says nothing of the member, but of the call',
      });
    }
  });

export type RecheckConfig = z.output<typeof recheck>;

/** What every kind of login may have. */
export const everyLogin = {
  recheck: recheck.optional().meta({
    description: 'Asks the backend again when an app refreshes its token, and ends what a member let in who is gone.',
  }),
};
