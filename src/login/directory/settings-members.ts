import { z } from 'zod';
import { readYaml } from '../../config/document.ts';
import { readIssues } from '../../config/issues.ts';
import { readNamedFile } from '../../config/named-file.ts';
import { type Problem, problemAt, type UntracedProblem } from '../../config/problems.ts';
import type { SourceFiles } from '../../config/source-files.ts';
import { type Tree, valueAt } from '../../config/tree.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import { isSubject } from '../../oauth/subject.ts';
import { passwordHashProblem } from '../../passwords/password-hash.ts';

const passwordHash = z.string().superRefine((encoded, context) => {
  const problem = passwordHashProblem(encoded);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const text = z.string().min(1).max(320);

const id = z
  .union([z.string(), z.int()])
  .transform(String)
  .refine(isSubject, 'must be 1 to 255 characters without control characters or surrounding spaces, and not 0');

const member = z
  .strictObject({
    id,
    login: z.union([text, z.array(text).min(1)], 'must be a name, or a list of names').optional(),
    ...eachDetail(() => text.optional()),
    emailVerified: z.boolean().optional(),
    password: passwordHash,
    suspended: z.boolean().default(false),
  })
  .transform(({ login, ...rest }) => ({ ...rest, logins: login === undefined ? [] : [login].flat() }));

const membersFile = z.strictObject({ members: z.array(member).min(1) });

/** A member as the file lists them. `logins` is empty for a member who signs in with the email. */
type FileMember = z.output<typeof member>;

/** A member with every name they can sign in with. */
export type DirectoryMember = Omit<FileMember, 'logins'> & { readonly logins: readonly string[] };

interface MembersFile {
  /** Undefined when the file cannot be used. */
  readonly members: readonly DirectoryMember[] | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Parses the members file. `file` is the name to show in problems, which never show a hash. Does not throw on invalid
 * text.
 */
export function parseMembers(file: string, source: string): MembersFile {
  const { tree, problems, place } = readYaml(file, source);
  if (problems.length > 0) return { members: undefined, problems };
  const parsed = membersFile.safeParse(tree);
  const findings = parsed.success ? ambiguous(parsed.data.members) : readIssues(parsed.error.issues, tree);
  return {
    members:
      parsed.success && findings.length === 0
        ? parsed.data.members.map((one) => ({ ...one, logins: loginsOf(one) }))
        : undefined,
    problems: findings.map((finding) => problemAt(place(finding.path, finding.at), finding)),
  };
}

/** Reads the file that `login.file` names. */
export async function readMembersFile(
  tree: Tree,
  files: SourceFiles,
): Promise<MembersFile & { readonly findings: readonly UntracedProblem[] }> {
  const directory = valueAt(tree, ['login', 'kind']) === 'directory' ? tree : {};
  const parse = (bytes: Buffer, file: string) => parseMembers(files.resolve(file), bytes.toString('utf8'));
  const { value = { members: undefined, problems: [] }, findings } = await readNamedFile(
    directory,
    ['login', 'file'],
    files,
    parse,
  );
  return { ...value, findings };
}

function loginsOf({ logins, email }: FileMember): readonly string[] {
  return logins.length === 0 && email !== undefined ? [email] : logins;
}

/** Finds ids and sign-in names that two members share: which member is meant would depend on the order. */
function ambiguous(members: readonly FileMember[]): readonly UntracedProblem[] {
  const ids = new Map<string, number>();
  const logins = new Map<string, number>();
  return members.flatMap((one, index): readonly UntracedProblem[] => {
    const findings: UntracedProblem[] = [];
    const taken = (seen: Map<string, number>, value: string, key: string) => {
      const other = seen.get(value);
      if (other === undefined) seen.set(value, index);
      else if (other !== index)
        findings.push({ path: ['members', index, key], at: 'value', message: `is the same as in members[${other}]` });
    };
    taken(ids, one.id, 'id');
    const names = loginsOf(one);
    if (names.length === 0)
      findings.push({ path: ['members', index], at: 'key', message: 'must have a login or an email to sign in with' });
    for (const name of names) taken(logins, foldAccountName(name), one.logins.length === 0 ? 'email' : 'login');
    return findings;
  });
}
