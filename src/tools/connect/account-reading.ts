import { ConnectError } from './connect-error.ts';
import { list, PAGE, QUERY, record } from './courses.ts';
import { requestResource } from './oauth/tokens.ts';
import type { Transport } from './oauth/transport.ts';
import { responseJson } from './response-json.ts';

interface AccountReading {
  readonly viewer: Readonly<Record<string, unknown>>;
  /** What the viewer has besides, if the schema is known. */
  readonly others: readonly string[];
  /** The first error beside the data; undefined if there is none. */
  readonly problem: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;
/** What to ask for, as far as the site has it. */
interface Wanted {
  readonly [field: string]: Wanted;
}

const WANTED: Wanted = {
  viewer: {
    id: {},
    email: {},
    name: {},
    enrolledCourses: {
      totalCount: {},
      nodes: {
        slug: {},
        title: {},
        expireDate: {},
        hasLifetimeAccess: {},
        lastWatchedLecture: { lectureId: {}, positionSeconds: {} },
      },
    },
  },
};

const TYPE = 'type{kind name ofType{kind name ofType{kind name ofType{kind name}}}}';
const SCHEMA = `{__schema{queryType{name}types{name fields{name args{name defaultValue type{kind}}${TYPE}}}}}`;

/**
 * Reads the member from an Account API: what its schema has of the contract; without introspection the contract's
 * query, and then the id alone. Undefined if there is nothing at the address (404). Throws oauth4webapi's
 * WWWAuthenticateChallengeError on 401 and 403, and ConnectError if there is no member in any answer.
 */
export async function readAccount(url: URL, token: string, http: Transport): Promise<AccountReading | undefined> {
  const ask = async (query: string, variables?: object): Promise<Json | undefined> => {
    const response = await requestResource(
      token,
      url,
      http,
      variables === undefined ? { query } : { query, variables },
    );
    const answer = record(await responseJson(response));
    if (response.status === 404) return undefined;
    if (response.status >= 500 || (answer.data === undefined && answer.errors === undefined))
      throw new ConnectError(`The Account API answered ${response.status}.`, "Check the gate's log.");
    return answer;
  };
  const first = await ask(SCHEMA);
  if (first === undefined) return undefined;
  const schema = record(record(first.data).__schema);
  const types = new Map(list(schema.types).map((type) => [String(record(type).name), list(record(type).fields)]));
  const query = String(record(schema.queryType).name);
  const composed = selection(query, WANTED, types);
  let problem: string | undefined;
  for (const [document, variables] of composed === ''
    ? ([[QUERY, { n: PAGE }], ['{viewer{id}}']] as const)
    : ([[composed], ['{viewer{id}}']] as const)) {
    const answer = record(await ask(document, variables));
    const message = record(list(answer.errors)[0]).message;
    const said = typeof message === 'string' ? message : undefined;
    // The contract's query may just ask for more than there is.
    problem = composed === '' ? said : (problem ?? said);
    const viewer = record(record(answer.data).viewer);
    if (viewer.id !== undefined) return { viewer, others: othersOf(query, types), problem };
  }
  throw new ConnectError(
    `The Account API returned no member${problem === undefined ? '' : `: ${problem.replace(/\.$/, '')}`}.`,
    "Check that the token has account:read, and check the gate's log.",
  );
}

type Types = ReadonlyMap<string, readonly unknown[]>;

/** The wanted fields that a type has, as a selection set; '' if it has none of them. */
function selection(type: string, wanted: Wanted, types: Types): string {
  const parts = (types.get(type) ?? []).flatMap((one) => {
    const field = record(one);
    const name = String(field.name);
    const inner = Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    const args = list(field.args).map(record);
    const isRequired = (arg: Json) => record(arg.type).kind === 'NON_NULL' && (arg.defaultValue ?? null) === null;
    const first = args.some((arg) => arg.name === 'first') ? `(first:${PAGE})` : '';
    if (inner === undefined || args.some((arg) => arg.name !== 'first' && isRequired(arg))) return [];
    const fields = types.get(typeOf(field.type)) ?? [];
    if (fields.length === 0) return Object.keys(inner).length === 0 ? [name + first] : [];
    const within = selection(typeOf(field.type), inner, types);
    return within === '' ? [] : [`${name}${first}${within}`];
  });
  return parts.length === 0 ? '' : `{${parts.join(' ')}}`;
}

/** The name inside lists and non-null types. */
function typeOf(type: unknown): string {
  let inner = record(type);
  while (inner.ofType !== null && inner.ofType !== undefined) inner = record(inner.ofType);
  return String(inner.name);
}

function othersOf(query: string, types: Types): readonly string[] {
  const viewer = (types.get(query) ?? []).map(record).find(({ name }) => name === 'viewer');
  const names = (types.get(typeOf(viewer?.type)) ?? []).map((field) => String(record(field).name));
  return names.filter((name) => !Object.hasOwn(WANTED.viewer ?? {}, name));
}
