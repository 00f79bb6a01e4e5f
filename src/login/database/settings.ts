import { z } from 'zod';
import { secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { MEMBER_DETAILS } from '../../oauth/member-details.ts';
import { credentialLogin } from '../settings.ts';

/** Quoted strings and identifiers in the syntax of all three databases. */
export const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g;

const query = z
  .string()
  .regex(/^\s*(select|with)\s/i, 'must be one SELECT')
  .superRefine((given, context) => {
    const bare = given.replaceAll(QUOTED, '');
    const report = (message: string) => context.addIssue({ code: 'custom', message });
    if (/;|--|\/\*|#/.test(bare)) report('must be one SELECT, without ; and without comments');
    else if (!/\$1(?!\d)/.test(bare)) report('must contain $1 where the login goes, not in quotes');
    else if (/\$(?!1(?!\d))\d+/.test(bare)) report('must have no parameter other than $1, the login');
  });

function urlProblem(url: string): string | undefined {
  if (/^(postgres|postgresql|mysql|mariadb):\/\/\S+$/.test(url) && URL.canParse(url)) return undefined;
  if (/^sqlite:\/./.test(url)) return undefined;
  return 'must be postgres://…, mysql://… or sqlite:/absolute/path';
}

const COLUMNS = Object.values(MEMBER_DETAILS)
  .map(({ claim }) => `\`${claim}\``)
  .join(', ');

/** Login by the backend's own table of members, read with one query. */
export const databaseLogin = z.strictObject({
  kind: z.literal('database'),
  url: secret(urlProblem),
  query: query.describe(
    `One SELECT with $1 where the login goes. It must return one row for a member, and none if there is no such member. Its columns: \`id\`, \`hash\`, and if there are any ${COLUMNS}, \`email_verified\`, \`suspended\` (true: may not sign in) and \`version\`, which changes when all of the member’s connections must end (by default the hash).`,
  ),
  hash: z
    .strictObject({
      pepper: secret().optional(),
    })
    .prefault({}),
  timeout: duration.prefault('3s'),
  ...credentialLogin,
});

export type DatabaseLoginConfig = z.output<typeof databaseLogin>;
