import { z } from 'zod';
import { credentialLogin } from './own-sign-in.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

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

const column = z.string().min(1).max(63);

const SCHEMES = ['argon2id', 'argon2i', 'argon2d', 'bcrypt', 'pbkdf2', 'phpass', 'scrypt', 'wordpress'] as const;

/** Login by the backend's own table of members, read with one query. */
export const databaseLogin = z.strictObject({
  kind: z.literal('database'),
  url: secretReference.meta({
    description:
      'Where to read the database URL: postgres://…, mysql://… or sqlite:/path. Use a database user with read-only access.',
  }),
  query: query.meta({
    description:
      'One SELECT with $1 where the login goes. It must return one row for a member, and none if there is no such member.',
  }),
  hash: z
    .strictObject({
      scheme: z
        .enum(['auto', ...SCHEMES])
        .default('auto')
        .meta({
          description: 'How passwords are hashed. `auto` detects each supported scheme by the prefix of the hash.',
        }),
      pepper: secretReference.optional().meta({
        description: 'Secret appended to the password before it is hashed, as Devise does.',
      }),
    })
    .prefault({})
    .meta({ description: 'How passwords are verified.' }),
  columns: z
    .strictObject({
      subject: column.default('id').meta({ description: 'Column with the ID.' }),
      hash: column.default('hash').meta({ description: 'Column with the password hash.' }),
      email: column.default('email').meta({ description: 'Column with the email, if there is one.' }),
      name: column.default('name').meta({ description: 'Column with the name, if there is one.' }),
      version: column.optional().meta({
        description: 'Column whose value changes when all of the member’s connections must end. Defaults to the hash.',
      }),
    })
    .prefault({})
    .meta({ description: 'Columns of the query’s result.' }),
  timeout: duration.prefault('3s').meta({ description: 'Time limit for the database.' }),
  connections: z.int().min(1).max(20).default(4).meta({ description: 'Most connections to the database.' }),
  ...credentialLogin,
});

export type DatabaseLoginConfig = z.output<typeof databaseLogin>;

/** Says why a database URL is not supported, without showing it; undefined when it is. */
export function databaseUrlProblem(url: string): string | undefined {
  if (/^(postgres|postgresql|mysql|mariadb):\/\/\S+$/.test(url) && URL.canParse(url)) return undefined;
  if (/^sqlite:\/./.test(url)) return undefined;
  return 'must be postgres://…, mysql://… or sqlite:/absolute/path';
}
