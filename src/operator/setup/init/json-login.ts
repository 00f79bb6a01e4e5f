import { jsonObject, type SiteAnswer } from '../../doctor/answer.ts';
import type { DescribedOperation, Description, PasswordLogin } from './description.ts';
import type { SiteProbe } from './probe.ts';
import { isForApps } from './proposals.ts';
import USUAL from './usual-addresses.json' with { type: 'json' };

/** A sign-in without a page: it takes a name and a password, and answers in JSON. */
export interface JsonLogin extends PasswordLogin {
  /** The status of its answer to wrong credentials. */
  readonly wrong: number;
  /** JSON pointer to the token in its answer to right ones; undefined if the site does not describe it. */
  readonly token: string | undefined;
}

/** Where the site says who is signed in, with JSON pointers into its answer. */
export interface JsonWhoami {
  readonly path: string;
  readonly subject?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
}

const TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const;
/** No member has this address: the domain is reserved for examples (RFC 2606). */
const WRONG = { username: 'coursegate-init@example.com', password: 'wrong on purpose' };
const REFUSALS = [400, 401, 403, 422];

/**
 * Finds a sign-in that answers a wrong password in JSON, by trying one at the addresses that the site describes, or else
 * at common ones.
 */
export async function findJsonLogin(
  probe: SiteProbe,
  description: Description | undefined,
): Promise<JsonLogin | undefined> {
  for (const { gives, ...operation } of description?.logins ?? []) {
    const wrong = await refusalOf(probe, operation);
    if (wrong !== undefined) return { ...operation, wrong, token: pointerTo(gives(), TOKENS) };
  }
  if (description !== undefined && description.logins.length > 0) return undefined;
  const empties = await Promise.all(USUAL.signIns.map((path) => probe.post(path, TYPES.json, '{}')));
  for (const [at, path] of USUAL.signIns.entries()) {
    const empty = empties[at];
    if (empty === undefined || !isRefusal(empty)) continue;
    const fields = { username: /\busername\b/.test(empty.text) ? 'username' : 'email', password: 'password' };
    const found = await inSomeFormat(probe, { path, ...fields });
    if (found !== undefined) return { ...found, token: undefined };
  }
  return undefined;
}

/** The address that says who is signed in: one that the site describes, with what its answer contains, or a common one. */
export function findWhoami(
  description: Description | undefined,
  answers: ReadonlyMap<string, SiteAnswer>,
): JsonWhoami | undefined {
  const operations = description?.operations ?? [];
  for (const name of WHOAMI) {
    const found = operations.find(({ path }) => name.test(path) && isForApps(path) && isPrivate(answers.get(path)));
    if (found !== undefined) return { path: found.path, ...pointersOf(found) };
  }
  const path = USUAL.whoami.find((one) => isPrivate(answers.get(one)));
  return path === undefined ? undefined : { path };
}

/** The addresses that `findWhoami` needs the answers of. */
export function whoamiPaths({ operations }: Description): readonly string[] {
  return operations
    .map(({ path }) => path)
    .filter((path) => !path.includes('{') && isForApps(path) && WHOAMI.some((name) => name.test(path)))
    .slice(0, MOST_WHOAMI);
}

const MOST_WHOAMI = 12;
/** By how likely it is the member's own record. */
const WHOAMI = [
  /\/me\/?$/,
  /\/whoami\/?$/,
  /\/(current[_-]user|users?\/current)\/?$/,
  /\/(userinfo|profile|account)\/?$/,
  /\/(user|session)\/?$/,
];
const TOKENS = /\/(access_?token|token|jwt)$/i;

function pointersOf(operation: DescribedOperation): Omit<JsonWhoami, 'path'> {
  const gives = operation.gives();
  return {
    subject: pointerTo(gives, /\/id$/) ?? pointerTo(gives, /\/(user_?id|sub|uuid|user_uuid)$/i),
    email: pointerTo(gives, /\/(email|email_address)$/i),
    name: pointerTo(gives, /\/(name|full_?name|display_?name)$/i) ?? pointerTo(gives, /\/username$/i),
  };
}

/** The pointer nearest to the root. */
function pointerTo(gives: readonly string[], pattern: RegExp): string | undefined {
  const depth = (pointer: string) => pointer.split('/').length;
  return gives.filter((pointer) => pattern.test(pointer)).toSorted((a, b) => depth(a) - depth(b))[0];
}

/** An address for members only: without a session it refuses, in JSON. */
function isPrivate(answer: SiteAnswer | undefined): boolean {
  return answer !== undefined && [401, 403].includes(answer.status) && jsonObject(answer) !== undefined;
}

function isRefusal(answer: SiteAnswer): boolean {
  return REFUSALS.includes(answer.status) && jsonObject(answer) !== undefined;
}

async function inSomeFormat(probe: SiteProbe, login: Omit<PasswordLogin, 'format'>) {
  for (const format of ['json', 'form'] as const) {
    const wrong = await refusalOf(probe, { ...login, format });
    // 422: it could not read the body (RFC 9110 section 15.5.21), so it expects the other format.
    if (wrong !== undefined && (wrong !== 422 || format === 'form')) return { ...login, format, wrong };
  }
  return undefined;
}

/** The status for wrong credentials; undefined if the answer does not look like that of a sign-in. */
async function refusalOf(
  probe: SiteProbe,
  { path, format, username, password }: PasswordLogin,
): Promise<number | undefined> {
  const fields = { [username]: WRONG.username, [password]: WRONG.password };
  const body = format === 'json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
  const answer = await probe.post(path, TYPES[format], body);
  return answer !== undefined && isRefusal(answer) ? answer.status : undefined;
}
