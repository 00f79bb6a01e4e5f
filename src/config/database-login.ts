import { z } from 'zod';
import { credentialLogin } from './own-sign-in.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

/** Texts, names and comments in quotes, as all three databases write them; between them is the query itself. */
export const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g;

const query = z
  .string()
  .regex(/^\s*(select|with)\s/i, 'must be one SELECT')
  .superRefine((given, context) => {
    const bare = given.replaceAll(QUOTED, '');
    const report = (message: string) => context.addIssue({ code: 'custom', message });
    if (/;|--|\/\*|#/.test(bare)) report('must be one SELECT, without ; and without comments');
    else if (!/\$1(?!\d)/.test(bare)) report('must have $1 where the login goes, and not in quotes');
    else if (/\$(?!1(?!\d))\d+/.test(bare)) report('has no parameter but $1, the login');
  });

const column = z.string().min(1).max(63);

const SCHEMES = ['argon2id', 'argon2i', 'argon2d', 'bcrypt', 'pbkdf2', 'phpass', 'scrypt', 'wordpress'] as const;

/** The table of members itself, read by one query. */
export const databaseLogin = z.strictObject({
  kind: z.literal('database'),
  url: secretReference.meta({
    description:
      'Where the URL of the database is read, with the password of a user who may only read: postgres://…, mysql://… or sqlite:/path.',
  }),
  query: query.meta({
    description: 'One SELECT with $1 where the login goes. It must give one row for a member, and none for nobody.',
  }),
  hash: z
    .strictObject({
      scheme: z
        .enum(['auto', ...SCHEMES])
        .default('auto')
        .meta({
          description: 'How passwords are hashed; auto: by any scheme that is known, each told by how it begins.',
        }),
      pepper: secretReference.optional().meta({
        description: 'What is written behind the password before it is hashed, as Devise does.',
      }),
    })
    .prefault({})
    .meta({ description: 'How the hash is read.' }),
  columns: z
    .strictObject({
      subject: column.default('id').meta({ description: 'The id.' }),
      hash: column.default('hash').meta({ description: 'The hash of the password.' }),
      email: column.default('email').meta({ description: 'The email, if there is such a column.' }),
      name: column.default('name').meta({ description: 'The name, if there is such a column.' }),
      version: column.optional().meta({
        description: 'A value that changes when all that the member let in must end. Left out: the hash.',
      }),
    })
    .prefault({})
    .meta({ description: 'The columns of the query that hold the id, the hash, and what else apps may be told.' }),
  timeout: duration.prefault('3s').meta({ description: 'How long the database is waited for.' }),
  connections: z.int().min(1).max(20).default(4).meta({ description: 'Connections to it, at most.' }),
  ...credentialLogin,
});

export type DatabaseLoginConfig = z.output<typeof databaseLogin>;

/** Out: why a URL is none of a database that can be asked; never showing it. */
export function databaseUrlProblem(url: string): string | undefined {
  if (/^(postgres|postgresql|mysql|mariadb):\/\/\S+$/.test(url) && URL.canParse(url)) return undefined;
  if (/^sqlite:\/./.test(url)) return undefined;
  return 'must be postgres://…, mysql://… or sqlite:/absolute/path';
}
