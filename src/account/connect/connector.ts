import { mayBeSent } from '../../http/header-names.ts';
import { type DirectiveArguments, type HeaderArgument, METHODS, type Method } from './directives.ts';
import { compileSelection, type Evaluate } from './evaluate.ts';
import { type FilePosition, placeInString } from './mistakes.ts';
import { compileOutcome, type OutcomeRules } from './outcome.ts';
import { literalAt } from './read-directive.ts';
import type { Allowed } from './references.ts';
import type { Selection } from './syntax.ts';
import { parsePath, parseTemplate, type Template } from './template.ts';
import type { TextReader } from './text-reader.ts';

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
  readonly outcome: OutcomeRules;
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
  /** The HTTP methods allowed here. */
  readonly methods: readonly Method[];
  readonly writes: boolean;
  readonly inRequest: Allowed;
  readonly inSelection: Allowed;
}

/** Compiles one @connect. Returns undefined when it has mistakes, which are reported by the reader. */
export function compileConnector(
  values: DirectiveArguments['connect'],
  reader: TextReader,
  { methods, writes, inRequest, inSelection }: ConnectorRules,
): Connector | undefined {
  const { node } = reader;
  const method = methodOf(values.http, reader, methods);
  const path = method && reader.template(literalAt(node, 'http', method), parsePath, inRequest);
  const headers = compileHeaders(values.http.headers ?? [], reader, inRequest);

  let sound = true;
  const readPart = (name: 'queryParams' | 'body', form: boolean): Evaluate | undefined => {
    if (typeof values.http[name] !== 'string') return undefined;
    const literal = literalAt(node, 'http', name);
    const selection = reader.selection(literal, inRequest, false);
    if (selection === undefined) sound = false;
    else if (form && selection.kind !== 'members') reader.wrong(literal, `${name} are "name: value"`);
    return selection && compileSelection(selection);
  };
  const query = readPart('queryParams', true);
  const kind = headers?.some(([name, [text]]) => name === 'content-type' && text === FORM) ? 'form' : 'json';
  const body = readPart('body', kind === 'form');
  if (body !== undefined && method === 'GET') {
    reader.wrong(literalAt(node, 'http', 'body'), 'GET requests have no body');
  }
  // Only http says whom a call is about, because the items of `each` can come from anywhere.
  const namesMember = reader.named.get('context')?.has('sub') === true;
  const each = compileEach(values, reader, inRequest);
  const takes = reader.named.has('args')
    ? 'arguments'
    : reader.named.has('this') || reader.named.has('batch')
      ? 'data'
      : 'nothing';
  const outcome = compileOutcome(values, reader, inSelection);
  const literal = literalAt(node, 'selection');
  const selection = reader.selection(literal, inSelection);
  if (!sound || method === undefined || path === undefined || headers === undefined || selection === undefined) {
    return undefined;
  }
  return {
    source: values.source,
    method,
    path,
    call: `${method} ${literalAt(node, 'http', method).value}`,
    query,
    body: body && { kind, evaluate: body },
    headers,
    takes,
    namesMember,
    writes,
    outcome,
    each,
    select: compileSelection(selection),
    selection,
    placeOf: (at) => placeInString(literal, at),
  };
}

/** Compiles `each`. Its mistakes are only reported. */
function compileEach(
  { each }: DirectiveArguments['connect'],
  reader: TextReader,
  inRequest: Allowed,
): Evaluate | undefined {
  if (typeof each !== 'string') return undefined;
  const literal = literalAt(reader.node, 'each');
  if (!reader.named.has('each')) reader.wrong(literal, 'http does not use $each');
  const selection = reader.expression(literal, 'each', { ...inRequest, each: undefined }, false);
  return selection && compileSelection(selection);
}

function methodOf(
  http: DirectiveArguments['connect']['http'],
  reader: TextReader,
  methods: readonly Method[],
): Method | undefined {
  const [method, ...others] = METHODS.filter((name) => typeof http[name] === 'string');
  if (method === undefined || others.length > 0) {
    reader.wrong(reader.node, `http needs exactly one of ${methods.join(', ')}`);
    return undefined;
  }
  if (!methods.includes(method)) {
    const message = `only ${methods.join(' or ')} can be used to read; ${method} is for mutations`;
    reader.wrong(literalAt(reader.node, 'http', method), message);
  }
  return method;
}

/** Compiles the `http.headers` of @source or @connect. Returns undefined when one of them has a mistake. */
export function compileHeaders(
  headers: readonly HeaderArgument[],
  reader: TextReader,
  allowed: Allowed,
): readonly HeaderTemplate[] | undefined {
  const compiled = headers.map((header, index): HeaderTemplate | undefined => {
    const name = header.name.toLowerCase();
    const isAllowed = HEADER_NAME.test(name) && mayBeSent(name);
    if (!isAllowed) {
      const place = literalAt(reader.node, 'http', 'headers', index, 'name');
      reader.wrong(place, `a mapping cannot set the header ${JSON.stringify(header.name)}`);
    }
    const value = reader.template(literalAt(reader.node, 'http', 'headers', index, 'value'), parseTemplate, allowed);
    return isAllowed && value !== undefined ? [name, value] : undefined;
  });
  const sound = compiled.filter((header) => header !== undefined);
  return sound.length === headers.length ? sound : undefined;
}
