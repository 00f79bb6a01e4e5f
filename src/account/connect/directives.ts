import { buildSchema } from 'graphql';

/**
 * The directives of a mapping file: the documented subset of Apollo Connectors, plus @connection, @graphql and
 * @upstreamName. The descriptions are copied into schema/REFERENCE.md.
 */
export const DIRECTIVES = buildSchema(`
  "Ignored. Accepted for editors that know Apollo's specifications."
  directive @link(url: String!, as: String, import: [String!]) repeatable on SCHEMA

  "An upstream of the configuration, by its name there. Its URL, timeouts and identity are set in the configuration."
  directive @source(
    name: String!
    http: SourceHTTP
    isSuccess: String
    errors: ConnectErrors
    "Set if the upstream speaks GraphQL, for use with @graphql."
    graphql: SourceGraphQL
  ) repeatable on SCHEMA

  """
  On a field of Query, the viewer or Mutation: the field and everything below it comes from a GraphQL upstream.
  Sibling fields are requested in one query. Only mutations that have this directive are ever sent.
  """
  directive @graphql(
    source: String!
    "The upstream's root field that returns the member with this field. If omitted, this field is itself a root field."
    root: String
    "The argument of root, or else of the field, for the member's ID or a list of it. It is always the access token's."
    member: String
    "Name of the field at the upstream."
    name: String
    "Names of the field's arguments at the upstream."
    arguments: [UpstreamArgument!]
  ) on FIELD_DEFINITION

  "The name at a GraphQL upstream, if it differs. An enum value can stand for several values of the upstream."
  directive @upstreamName(
    source: String!
    name: String!
    arguments: [UpstreamArgument!]
  ) repeatable on OBJECT | FIELD_DEFINITION | ENUM_VALUE | INPUT_FIELD_DEFINITION

  input UpstreamArgument {
    "Name in the contract."
    name: String!
    "Name at the upstream."
    as: String!
  }

  input SourceGraphQL {
    "Path that operations are posted to."
    path: String! = "/graphql"
  }

  """
  On a field: where its value comes from. On a type, with batch: one call that adds fields to many objects at once.
  They are matched by the key that http uses as $batch.key and that the selection returns.
  Names that begin with _ in a selection are for the mapping alone: $this and $batch have them, and clients do not.
  """
  directive @connect(
    source: String!
    http: ConnectHTTP!
    "See syntax.ts. With @connection: the selection of one node."
    selection: String!
    batch: ConnectBatch
    """
    On a field: expression for a list. http is called once for each item, as $each, and the selection gets the list of the
    responses, with null for a 404.
    """
    each: String
    "Expression over the response and $status that is true on success. Defaults to any 2xx status."
    isSuccess: String
    "What clients are told when a response is not successful. Defaults to the gateway's own message."
    errors: ConnectErrors
  ) on FIELD_DEFINITION | OBJECT

  "Makes the field a connection (nodes, edges, pageInfo, totalCount) over the pages of the upstream."
  directive @connection(
    style: ConnectionStyle!
    """
    Items per page of the upstream, from 10 to 1000, sent as $page.size whatever the client's first is. Not for ALL.
    """
    pageSize: Int
    "Expression for the list in a page."
    nodes: String!
    """
    Expression over an item that is true if the item belongs to the connection. Further pages are read until a window is
    full, and all of them when a client asks for totalCount.
    """
    filter: String
    "PAGE, OFFSET: expression that is null, false, 0 or empty on the last page. CURSOR (required): the cursor of the next page."
    next: String
    "Expression for the total number of the upstream's items."
    total: String
  ) on FIELD_DEFINITION

  input SourceHTTP {
    headers: [HTTPHeader!]
  }

  "One method with its path: text with expressions in braces. Queries use GET or POST."
  input ConnectHTTP {
    GET: String
    POST: String
    PUT: String
    PATCH: String
    DELETE: String
    "Query parameters as 'name: value'. null is omitted; a list repeats its name."
    queryParams: String
    "The JSON body. With content-type application/x-www-form-urlencoded: the fields of the form as 'name: value'."
    body: String
    headers: [HTTPHeader!]
  }

  input HTTPHeader {
    name: String!
    "Text with expressions in braces."
    value: String!
  }

  input ConnectBatch {
    "The most objects of one call. With 1, the selection may return an object without the key, in place of a list."
    maxSize: Int! = 100
    """
    Whether the objects cannot do without these fields, which may then be non-null in the contract. A connection leaves
    out objects that the upstream does not know, and fails when the call fails.
    """
    required: Boolean! = false
  }

  "Expressions over the response and $status."
  input ConnectErrors {
    "The message. It is truncated, and control characters are removed."
    message: String
    "Entries of extensions as 'name: value'. code can be set too, in capitals."
    extensions: String
  }

  enum ConnectionStyle {
    "Requests page $page.number, counted from 1, of $page.size items."
    PAGE
    "Requests $page.size items from $page.offset, counted from 0."
    OFFSET
    "Requests the page at $page.cursor, which is null for the first page."
    CURSOR
    "Requests the whole list at once."
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

/** The arguments of each directive, as validated against the SDL above. */
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
    readonly root?: string;
    readonly member?: string;
    readonly name?: string;
    readonly arguments?: readonly UpstreamArgument[];
  };
  upstreamName: {
    readonly source: string;
    readonly name: string;
    readonly arguments?: readonly UpstreamArgument[];
  };
  connect: {
    readonly source: string;
    readonly http: { readonly [key in Method | 'queryParams' | 'body']?: string | null } & {
      readonly headers?: readonly HeaderArgument[];
    };
    readonly selection: string;
    readonly batch?: { readonly maxSize: number; readonly required: boolean };
    readonly each?: string;
    readonly isSuccess?: string;
    readonly errors?: ErrorArguments;
  };
  connection: {
    readonly style: ConnectionStyle;
    readonly pageSize?: number;
    readonly nodes: string;
    readonly filter?: string;
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
