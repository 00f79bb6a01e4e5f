import { type JsonObject, listOf, objectOf } from '../../http/json-object.ts';
import { ConnectError } from './connect-error.ts';
import { PAGE, QUERY } from './courses.ts';
import { requestResource } from './oauth/tokens.ts';
import type { Transport } from './oauth/transport.ts';
import { responseJson } from './response-json.ts';

interface AccountReading {
  readonly viewer: Readonly<Record<string, unknown>>;
  /** What the viewer has besides, if the schema is known. */
  readonly others: readonly string[];
  /** The first errors beside the data, with the fields that they are about; undefined if there is none. */
  readonly problem: string | undefined;
}

/** Levels of fields below the root that are read of an API whose every field is asked for. */
const EVERY_LEVEL = 6;
const MOST_PROBLEMS = 3;

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
 * @param every - whether to ask for every field of the schema that needs no argument, with lists of one element
 */
export async function readAccount(
  url: URL,
  token: string,
  http: Transport,
  every = false,
): Promise<AccountReading | undefined> {
  const ask = async (query: string, variables?: object): Promise<JsonObject | undefined> => {
    const response = await requestResource(
      token,
      url,
      http,
      variables === undefined ? { query } : { query, variables },
    );
    const answer = objectOf(await responseJson(response));
    if (response.status === 404) return undefined;
    if (response.status >= 500 || (answer.data === undefined && answer.errors === undefined))
      throw new ConnectError(`The Account API answered ${response.status}.`, "Check the gate's log.");
    return answer;
  };
  const first = await ask(SCHEMA);
  if (first === undefined) return undefined;
  const schema = objectOf(objectOf(first.data).__schema);
  const types = new Map(
    listOf(schema.types).map((type) => [String(objectOf(type).name), listOf(objectOf(type).fields)]),
  );
  const query = String(objectOf(schema.queryType).name);
  const composed = selection(query, every ? EVERY_LEVEL : WANTED, types);
  let problem: string | undefined;
  for (const [document, variables] of composed === ''
    ? ([[QUERY, { n: PAGE }], ['{viewer{id}}']] as const)
    : ([[composed], ['{viewer{id}}']] as const)) {
    const answer = objectOf(await ask(document, variables));
    const said = problemsIn(listOf(answer.errors));
    // The contract's query may just ask for more than there is.
    problem = composed === '' ? said : (problem ?? said);
    const viewer = objectOf(objectOf(answer.data).viewer);
    if (viewer.id !== undefined) return { viewer, others: othersOf(query, types), problem };
  }
  throw new ConnectError(
    `The Account API returned no member${problem === undefined ? '' : `: ${problem.replace(/\.$/, '')}`}.`,
    "Check that the token has account:read, and check the gate's log.",
  );
}

type Types = ReadonlyMap<string, readonly unknown[]>;

function problemsIn(errors: readonly unknown[]): string | undefined {
  const said = errors.map(objectOf).flatMap(({ message, path }) => {
    const fields = listOf(path).filter((key) => typeof key === 'string');
    return typeof message === 'string' ? [fields.length === 0 ? message : `${fields.join('.')}: ${message}`] : [];
  });
  return said.length === 0 ? undefined : said.slice(0, MOST_PROBLEMS).join('; ');
}

/**
 * The wanted fields that a type has, as a selection set; '' if it has none of them. A number wants every field of that
 * many levels.
 */
function selection(type: string, wanted: Wanted | number, types: Types): string {
  const every = typeof wanted === 'number';
  const all = (types.get(type) ?? []).map((one) => String(objectOf(one).name));
  const innerOf = (name: string): Wanted | number | undefined => {
    if (!every) return Object.hasOwn(wanted, name) ? wanted[name] : undefined;
    // The same elements are in `nodes`.
    return wanted === 0 || (name === 'edges' && all.includes('nodes')) ? undefined : wanted - 1;
  };
  const parts = (types.get(type) ?? []).flatMap((one) => {
    const field = objectOf(one);
    const name = String(field.name);
    const inner = innerOf(name);
    const args = listOf(field.args).map(objectOf);
    const isRequired = (arg: JsonObject) =>
      objectOf(arg.type).kind === 'NON_NULL' && (arg.defaultValue ?? null) === null;
    const first = args.some((arg) => arg.name === 'first') ? `(first:${every ? 1 : PAGE})` : '';
    if (inner === undefined || args.some((arg) => arg.name !== 'first' && isRequired(arg))) return [];
    const fields = types.get(typeOf(field.type)) ?? [];
    if (fields.length === 0) return every || Object.keys(inner).length === 0 ? [name + first] : [];
    const within = selection(typeOf(field.type), inner, types);
    return within === '' ? [] : [`${name}${first}${within}`];
  });
  return parts.length === 0 ? '' : `{${parts.join(' ')}}`;
}

/** The name inside lists and non-null types. */
function typeOf(type: unknown): string {
  let inner = objectOf(type);
  while (inner.ofType !== null && inner.ofType !== undefined) inner = objectOf(inner.ofType);
  return String(inner.name);
}

function othersOf(query: string, types: Types): readonly string[] {
  const viewer = (types.get(query) ?? []).map(objectOf).find(({ name }) => name === 'viewer');
  const names = (types.get(typeOf(viewer?.type)) ?? []).map((field) => String(objectOf(field).name));
  return names.filter((name) => !Object.hasOwn(WANTED.viewer ?? {}, name));
}
