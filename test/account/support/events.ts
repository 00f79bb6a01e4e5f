import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccountOptions } from '../../../src/account/account-options.ts';
import { callOver, contractFiles, MEMBER, startAccount, type TestAccount } from './account.ts';

/** An operation as the GraphQL upstream received it. */
export interface Got {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The upstream's response: JSON or text with a status, or no response. */
type Said = { readonly json: unknown; readonly status?: number } | { readonly text: string } | 'nothing' | 'hang up';

export const UPSTREAM_SCHEMA = `
type Query { people(ids: [ID!]!): [Person]! me: Person! total: Int! greeting(to: String): String internalAudit: String }
type Mutation { drop(where: DropWhere!): Drop deleteEverybody: Boolean }
type Drop { left: Int! }
input DropWhere { key: ID! state: State }
enum State { OLD_ON OLD_OFF }
type Person { id: ID! nickname: String badge: Int! places(take: Int, state: State): [Place!] secret: String passwordHash: String }
type Place { id: ID! label: String! state: State! opened: String town: Town }
type Town { name: String! mayor: Person }
`;

export const CONTRACT = `
directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT
scalar DateTime
type Query { viewer: Viewer! greeting(to: String): String }
type Mutation { leave(input: LeaveInput!): Left }
type Left { left: Int! }
input LeaveInput { id: ID! state: Condition }
enum Condition { ON OFF UNKNOWN }
type Viewer {
  id: ID!
  email: String
  nickname: String
  badge: Int
  total: Int
  me: Int
  places(first: Int = 3, state: Condition): [Place!]
  hidden: String @requiresScopes(scopes: [["secrets:read"]])
}
type Place { id: ID! label: String! state: Condition! opened: DateTime town: Town }
type Town { name: String @requiresScopes(scopes: [["secrets:read"]]) }
`;

export const REMOTE_MAPPING = `extend schema
  @source(name: "people", graphql: {}, http: { headers: [{ name: "x-tenant", value: "{$config.tenant}" }] })
  @source(name: "school")
extend type Query { greeting: String @graphql(source: "people") }
extend type Viewer {
  email: String @connect(source: "school", http: { GET: "/members/{$context.sub}" }, selection: "$.email")
  nickname: String @graphql(source: "people", root: "people", member: "ids")
  badge: Int @graphql(source: "people", root: "people", member: "ids")
  total: Int @graphql(source: "people")
  me: Int @graphql(source: "people", root: "me", name: "badge")
  places: [Place!]
    @graphql(source: "people", root: "people", member: "ids", arguments: [{ name: "first", as: "take" }])
  hidden: String @graphql(source: "people", root: "people", member: "ids", name: "secret")
}
extend type Mutation { leave: Left @graphql(source: "people", name: "drop", arguments: [{ name: "input", as: "where" }]) }
extend enum Condition {
  ON @upstreamName(source: "people", name: "OLD_ON")
  OFF @upstreamName(source: "people", name: "OLD_OFF")
}
extend input LeaveInput { id: ID! @upstreamName(source: "people", name: "key") }
`;

/** The options of an endpoint with this contract, from the texts of the mapping and the recorded schema. */
export function remoteOptions(
  mapping = REMOTE_MAPPING,
  recorded: string | undefined = UPSTREAM_SCHEMA,
  contract = CONTRACT,
) {
  return {
    schema: contractFiles(contract),
    mappings: [{ file: 'map.graphql', text: mapping }],
    recorded: [{ upstream: 'people', file: 'people.graphql', text: recorded }],
    upstreams: ['people', 'school'],
    scopes: ['account:read', 'account:write', 'secrets:read'],
    config: { open: {}, secret: { tenant: 'harbour' } },
  };
}

export interface RemoteService {
  readonly account: TestAccount;
  readonly got: Got[];
  /** The scopes of the token, which a test can change between requests. */
  readonly scope: Set<string>;
  close(): Promise<void>;
}

/** An Account API over one REST service and one GraphQL upstream with scripted responses. */
export async function startRemote(
  say: (got: Got) => Said,
  options: Partial<AccountOptions> & { readonly scope?: readonly string[]; readonly timeout?: number } = {},
): Promise<RemoteService> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.url?.startsWith('/members/')) {
      response.end('{"email":"student@example.com"}');
      return;
    }
    const call: Got = { ...JSON.parse(Buffer.concat(chunks).toString()), headers: request.headers };
    got.push(call);
    const said = say(call);
    if (said === 'hang up') request.socket.destroy();
    else if (said !== 'nothing') {
      response.writeHead('status' in said ? (said.status ?? 200) : 200);
      response.end('text' in said ? said.text : JSON.stringify(said.json));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { scope = ['account:read'], timeout, ...rest } = options;
  const granted = new Set(scope);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account = await startAccount(
    { ...remoteOptions(), call: callOver(origin, timeout), ...rest },
    { ...MEMBER, scope: granted },
  );
  return {
    account,
    got,
    scope: granted,
    async close() {
      await account.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
