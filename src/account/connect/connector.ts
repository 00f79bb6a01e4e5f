/*
 * The life of one field with @connect, such as Viewer.orders, from the schema to the answer.
 *
 * At start:
 *   1. contract.ts reads the contract: the types that clients see.
 *   2. read-mapping.ts reads the mapping files. read-extension.ts finds the field's @connect, and read-connector.ts reads
 *      it with a DirectiveReader, which parses the texts in the directive (lexer.ts, parser.ts, syntax.ts), checks the
 *      variables they use (references.ts) and compiles them into functions (evaluate.ts).
 *   3. Here, the parts become a Connector: how to build the request, and how to read the response.
 *   4. check.ts compares the mapping with the contract, and resolvers.ts attaches a resolver to the field.
 *
 * For each operation of a client, with one AccountOperation (operation.ts):
 *   5. graphql-js calls the resolver. It gives the operation the connector, with the values of $args and $this.
 *   6. connector-request.ts fills the templates (template.ts). The operation calls the upstream as the member, and reads
 *      the JSON (json.ts). response-rules.ts decides whether the response is a success, or which error clients get.
 *   7. The resolver applies `select` to the data, and graphql-js takes the requested fields from the result.
 *
 * Two kinds of fields take a longer way: those with @connection read pages until a window is full (connection.ts), and
 * those of a type with @connect are collected over all its objects before they are requested (batch.ts). Fields with
 * @graphql are in ../remote.
 */

import { mayBeSent } from '../../http/header-names.ts';
import type { DirectiveReader } from './directive-reader.ts';
import { type DirectiveArguments, type HeaderArgument, METHODS, type Method } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { type FilePosition, placeInString } from './mistakes.ts';
import type { Available } from './references.ts';
import { compileResponseRules, type ResponseRules } from './response-rules.ts';
import type { Selection } from './syntax.ts';
import { parsePath, parseTemplate, type Template } from './template.ts';

export type HeaderTemplate = readonly [name: string, value: Template];

/** The body of a call. */
interface BodyTemplate {
  readonly kind: 'json' | 'form';
  readonly evaluate: Evaluate;
}

/** A call to an upstream and the mapping of its response. */
export interface Connector {
  readonly source: string;
  readonly method: Method;
  readonly path: Template;
  /** The method and path as the mapping has them, for messages: `GET /members/{$context.sub}`. */
  readonly call: string;
  readonly query: Evaluate | undefined;
  readonly body: BodyTemplate | undefined;
  readonly headers: readonly HeaderTemplate[];
  /** Where the values in the call come from: the client's arguments, an upstream's data, or only the token. */
  readonly takes: 'arguments' | 'data' | 'nothing';
  /** Whether the call contains the id of the token's member. */
  readonly namesMember: boolean;
  /** Whether it changes something, so that it must never be repeated. */
  readonly writes: boolean;
  readonly response: ResponseRules;
  /** The list of `each`; undefined if there is only one call. */
  readonly each: Evaluate | undefined;
  readonly select: Evaluate;
  /** The parsed selection, for the check against the contract. */
  readonly selection: Selection;
  placeOf(at: number): FilePosition;
}

const HEADER_NAME = /^[!#$%&'*+\-.^`|~0-9a-z]+$/;
const FORM = 'application/x-www-form-urlencoded';

/** What a connector may do, and what its texts can refer to. */
interface ConnectorRules {
  readonly writes: boolean;
  readonly inRequest: Available;
  readonly inSelection: Available;
}

/** Compiles one @connect. Returns undefined when it has mistakes, which are reported by the reader. */
export function compileConnector(
  { source, http, each }: DirectiveArguments['connect'],
  reader: DirectiveReader,
  { writes, inRequest, inSelection }: ConnectorRules,
): Connector | undefined {
  const method = methodOf(http, reader, writes);
  const path = method && reader.template(['http', method], parsePath, inRequest);
  const headers = compileHeaders(http.headers ?? [], reader, inRequest);
  const compile = (name: 'queryParams' | 'body', shape: 'members' | 'any') =>
    reader.compile(['http', name], shape, inRequest, { hasData: false, name });
  const query = compile('queryParams', 'members');
  const isForm = headers?.some(([name, [text]]) => name === 'content-type' && text === FORM) === true;
  const body = compile('body', isForm ? 'members' : 'any');
  if (body !== undefined && method === 'GET') reader.wrong('GET requests have no body', 'http', 'body');
  // Mistakes in the texts from here on do not keep the selection from being checked.
  const { isSound } = reader;
  // Only http says whom a call is about, because the items of `each` can come from anywhere.
  const namesMember = reader.used.get('context')?.has('sub') === true;
  if (each !== undefined && !reader.used.has('each')) reader.wrong('http does not use $each', 'each');
  const items = reader.compile(['each'], 'expression', { ...inRequest, each: undefined }, { hasData: false });
  const takes = takenBy(reader);
  const response = compileResponseRules(reader, inSelection);
  const selection = reader.selection(['selection'], inSelection);
  if (!isSound || method === undefined || path === undefined || headers === undefined || selection === undefined)
    return undefined;
  const literal = reader.literal('selection');
  return {
    source,
    method,
    path,
    call: `${method} ${http[method]}`,
    query,
    body: body && { kind: isForm ? 'form' : 'json', evaluate: body },
    headers,
    takes,
    namesMember,
    writes,
    response,
    each: items,
    select: compileSelection(selection),
    selection,
    placeOf: (at) => placeInString(literal, at),
  };
}

function takenBy({ used }: DirectiveReader): Connector['takes'] {
  if (used.has('args')) return 'arguments';
  return used.has('this') || used.has('batch') ? 'data' : 'nothing';
}

function methodOf(
  http: DirectiveArguments['connect']['http'],
  reader: DirectiveReader,
  writes: boolean,
): Method | undefined {
  const allowed: readonly Method[] = writes ? METHODS : ['GET', 'POST'];
  const [method, ...others] = METHODS.filter((name) => typeof http[name] === 'string');
  if (method === undefined || others.length > 0) {
    reader.wrong(`http needs exactly one of ${allowed.join(', ')}`);
    return undefined;
  }
  if (!allowed.includes(method))
    reader.wrong(`only ${allowed.join(' or ')} can be used to read; ${method} is for mutations`, 'http', method);
  return method;
}

/** Compiles the `http.headers` of @source or @connect. Returns undefined when one of them has a mistake. */
export function compileHeaders(
  headers: readonly HeaderArgument[],
  reader: DirectiveReader,
  available: Available,
): readonly HeaderTemplate[] | undefined {
  const compiled = headers.map((header, index): HeaderTemplate | undefined => {
    const name = header.name.toLowerCase();
    const isAllowed = HEADER_NAME.test(name) && mayBeSent(name);
    const path = ['http', 'headers', index] as const;
    if (!isAllowed) reader.wrong(`a mapping cannot set the header ${JSON.stringify(header.name)}`, ...path, 'name');
    const value = reader.template([...path, 'value'], parseTemplate, available);
    return isAllowed && value !== undefined ? [name, value] : undefined;
  });
  const sound = compiled.filter((header) => header !== undefined);
  return sound.length === headers.length ? sound : undefined;
}
