import { z } from 'zod';
import { text } from '../../config/name.ts';
import type { UntracedProblem } from '../../config/problems.ts';
import { everyLogin } from '../../config/recheck.ts';
import { listAt, type Tree, valueAt } from '../../config/tree.ts';
import { pageUrl } from '../../config/urls.ts';
import { requestField } from '../../http/header-names.ts';
import { DETAIL_NAMES, eachDetail } from '../../oauth/member-details.ts';
import { signedToken } from '../settings.ts';

/** Headers about the origin of the request or the connection. They never carry an identity. */
const ABOUT_THE_REQUEST =
  /^(x-forwarded-(for|host|port|prefix|proto|server|ssl)|forwarded|x-real-ip|host|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|x-request-id)$/i;

const identityField = z
  .string()
  .regex(/^[!#$%&'*+\-^`|~0-9A-Za-z]+$/, 'must be a header name without _ or .')
  .refine(
    (given) => ['pass', 'drop'].includes(requestField(given)) && !ABOUT_THE_REQUEST.test(given),
    'is a header with another meaning',
  );

const jwt = z.strictObject({
  header: identityField,
  ...signedToken,
});

/** Login by a single sign-on proxy in front of the gate, which says who is signed in. */
export const headerLogin = z
  .strictObject({
    kind: z.literal('header'),
    user: identityField.optional(),
    ...eachDetail((_, { noun }) => identityField.optional().describe(`Header with the ${noun}. Use it with \`user\`.`)),
    jwt: jwt.optional(),
    signInUrl: pageUrl.optional(),
    switchUrl: pageUrl.optional(),
    returnParam: text.default('rd'),
    acrValues: z.array(text).default([]),
    ...everyLogin,
  })
  .superRefine((given, context) => {
    const { user, jwt } = given;
    const report = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ((user === undefined) === (jwt === undefined)) report([], 'must have either `user` or `jwt`');
    if (jwt === undefined) return;
    // Next to a signed assertion, plain headers would be unverified.
    for (const detail of DETAIL_NAMES) {
      if (given[detail] !== undefined) report([detail], `cannot be set with \`jwt\`: use jwt.claims.${detail}`);
    }
  });

export type HeaderLoginConfig = z.output<typeof headerLogin>;

/** The header with the member's id is only accepted from trusted proxies: without any, no one could ever sign in. */
export function checkTrustedProxies(tree: Tree): readonly UntracedProblem[] {
  const path = ['login', 'user'];
  if (valueAt(tree, path) === undefined || listAt(tree, ['listen', 'trustedProxies']).length > 0) return [];
  const message = 'is only accepted from listen.trustedProxies: list the networks of your proxy there';
  return [{ path, at: 'value', message }];
}
