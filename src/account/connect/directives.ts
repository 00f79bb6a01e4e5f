import {
  buildSchema,
  type ConstDirectiveNode,
  coerceInputLiteral,
  GraphQLError,
  Kind,
  type StringValueNode,
  type ValueNode,
  validateInputLiteral,
} from 'graphql';
import { type Mistakes, placeOf } from './mistakes.ts';

/** The directives of a mapping file, and so the documented subset of Apollo Connectors; @connection is ours. */
export const DIRECTIVES = buildSchema(`
  "Accepted for editors that know Apollo's specifications, and ignored."
  directive @link(url: String!, as: String, import: [String!]) repeatable on SCHEMA

  "An upstream of the configuration, by its name there. Address, time limit and identity are set there, not here."
  directive @source(
    name: String!
    http: SourceHTTP
    isSuccess: String
    errors: ConnectErrors
    "The upstream speaks GraphQL, and @graphql takes fields from it."
    graphql: SourceGraphQL
  ) repeatable on SCHEMA

  """
  On a field of Query, of the viewer or of Mutation: it comes from a GraphQL upstream, with all that is below it.
  Sibling fields are asked for in one query; of mutations nothing is ever sent but those that have this directive.
  """
  directive @graphql(
    source: String!
    "The upstream's root field that gives the member this field stands in. Without it the field is a root field itself."
    root: String
    "The argument, of root or else of the field, that takes the member's id or a list of it: the access token's, always."
    member: String
    "What the upstream calls the field."
    name: String
    "What it calls the field's arguments."
    arguments: [UpstreamArgument!]
  ) on FIELD_DEFINITION

  "What a GraphQL upstream calls this, where its name is another. An enum's value can stand for several of its own."
  directive @upstreamName(
    source: String!
    name: String!
    arguments: [UpstreamArgument!]
  ) repeatable on OBJECT | FIELD_DEFINITION | ENUM_VALUE | INPUT_FIELD_DEFINITION

  input UpstreamArgument {
    "As in the contract."
    name: String!
    "As upstream."
    as: String!
  }

  input SourceGraphQL {
    "Where operations are posted."
    path: String! = "/graphql"
  }

  """
  On a field: where its value comes from. On a type, with batch: one call that adds fields to many objects at once,
  found again by the one key that http names as $batch.key and that the selection gives back.
  """
  directive @connect(
    source: String!
    http: ConnectHTTP!
    "See syntax.ts. With @connection: of one node."
    selection: String!
    batch: ConnectBatch
    "An expression over the answer and $status that is true for an answer to be used. Without it: any status 2xx."
    isSuccess: String
    "What a client reads about an answer that is no success. Without it: the gateway's own words."
    errors: ConnectErrors
  ) on FIELD_DEFINITION | OBJECT

  "The field is a connection (nodes, edges, pageInfo, totalCount) over the pages of the upstream."
  directive @connection(
    style: ConnectionStyle!
    "How many items a page of the upstream has; asked for as $page.size, whatever the client's first is. Not for ALL."
    pageSize: Int
    "The list in a page."
    nodes: String!
    "PAGE, OFFSET: what is null, false, 0 or empty on the last page. CURSOR, and then needed: the cursor of the next page."
    next: String
    "The number of all items."
    total: String
  ) on FIELD_DEFINITION

  input SourceHTTP {
    headers: [HTTPHeader!]
  }

  "One method with its path, which is a text with expressions in braces. A query reads with GET or POST."
  input ConnectHTTP {
    GET: String
    POST: String
    PUT: String
    PATCH: String
    DELETE: String
    "Members that become the query: null is left out, a list repeats its name."
    queryParams: String
    "What becomes the JSON body; with a content-type of application/x-www-form-urlencoded, members that become a form."
    body: String
    headers: [HTTPHeader!]
  }

  input HTTPHeader {
    name: String!
    "A text with expressions in braces."
    value: String!
  }

  input ConnectBatch {
    maxSize: Int! = 100
  }

  "Expressions over the answer and $status."
  input ConnectErrors {
    "The message. Shortened, and cleaned of control characters."
    message: String
    "Members that join code in extensions; code itself may be given, in capitals."
    extensions: String
  }

  enum ConnectionStyle {
    "The upstream is asked for page $page.number, from 1, of $page.size items."
    PAGE
    "The upstream is asked for $page.size items from $page.offset, from 0."
    OFFSET
    "The upstream is asked for the page at $page.cursor, null for the first."
    CURSOR
    "The upstream gives the whole list at once."
    ALL
  }

  type Query {
    unused: Boolean
  }
`);

export interface HeaderArgument {
  readonly name: string;
  readonly value: string;
}

export interface UpstreamArgument {
  readonly name: string;
  readonly as: string;
}

/** The arguments of each directive, as the SDL above lets them through. */
export interface DirectiveArguments {
  link: { readonly url: string };
  source: {
    readonly name: string;
    readonly http?: { readonly headers?: readonly HeaderArgument[] };
    readonly isSuccess?: string;
    readonly errors?: ErrorArguments;
    readonly graphql?: { readonly path: string };
  };
  graphql: {
    readonly source: string;
    readonly root?: string | null;
    readonly member?: string | null;
    readonly name?: string | null;
    readonly arguments?: readonly UpstreamArgument[] | null;
  };
  upstreamName: {
    readonly source: string;
    readonly name: string;
    readonly arguments?: readonly UpstreamArgument[] | null;
  };
  connect: {
    readonly source: string;
    readonly http: { readonly [key in Method | 'queryParams' | 'body']?: string | null } & {
      readonly headers?: readonly HeaderArgument[];
    };
    readonly selection: string;
    readonly batch?: { readonly maxSize: number };
    readonly isSuccess?: string;
    readonly errors?: ErrorArguments;
  };
  connection: {
    readonly style: ConnectionStyle;
    readonly pageSize?: number | null;
    readonly nodes: string;
    readonly next?: string;
    readonly total?: string;
  };
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];
export type ConnectionStyle = 'PAGE' | 'OFFSET' | 'CURSOR' | 'ALL';

interface ErrorArguments {
  readonly message?: string | null;
  readonly extensions?: string | null;
}

/** Reads a directive's arguments. Out: undefined when something is wrong with them, which is then in `mistakes`. */
export function readDirective<Name extends keyof DirectiveArguments>(
  name: Name,
  node: ConstDirectiveNode,
  coordinate: string,
  mistakes: Mistakes,
): DirectiveArguments[Name] | undefined {
  const definition = DIRECTIVES.getDirective(name);
  if (definition === undefined || definition === null) throw new Error(`no directive @${name}`);
  const values: Record<string, unknown> = {};
  let sound = true;
  const wrong = (place: Parameters<typeof placeOf>[0], message: string): void => {
    sound = false;
    mistakes.add(placeOf(place), coordinate, `@${name}: ${message}`);
  };
  for (const given of node.arguments ?? []) {
    const argument = definition.args.find((each) => each.name === given.name.value);
    if (argument === undefined) {
      wrong(given, `there is no argument ${given.name.value}`);
      continue;
    }
    const problem = (error: GraphQLError): void =>
      wrong(error.nodes?.[0] ?? given, `${argument.name}: ${error.message}`);
    validateInputLiteral(given.value, argument.type, problem);
    values[argument.name] = coerceInputLiteral(given.value, argument.type);
  }
  for (const argument of definition.args) {
    const needed = String(argument.type).endsWith('!');
    const missing = !node.arguments?.some((given) => given.name.value === argument.name);
    if (needed && missing) wrong(node, `the argument ${argument.name} is missing`);
  }
  return sound ? (values as unknown as DirectiveArguments[Name]) : undefined;
}

/** The string literal at a path of argument and field names. Throws when there is none: the directive was not read. */
export function literalAt(node: ConstDirectiveNode, ...path: readonly (string | number)[]): StringValueNode {
  let value: ValueNode | undefined;
  for (const step of path) {
    if (value === undefined) value = node.arguments?.find((each) => each.name.value === step)?.value;
    else if (value.kind === Kind.OBJECT) value = value.fields.find((each) => each.name.value === step)?.value;
    else if (value.kind === Kind.LIST) value = value.values[step as number];
  }
  if (value?.kind !== Kind.STRING) throw new GraphQLError(`no string at ${path.join('.')}`, { nodes: [node] });
  return value;
}
