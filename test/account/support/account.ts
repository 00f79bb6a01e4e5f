import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccountOptions } from '../../../src/account/account-options.ts';
import { createAccount } from '../../../src/account/endpoint.ts';
import { GatewayError } from '../../../src/errors.ts';
import type { MemberPrincipal } from '../../../src/oauth/principal.ts';
import type { CallForPrincipal } from '../../../src/upstream/request.ts';

export const MEMBER: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1001',
  details: { email: 'token@example.com', name: 'A Student' },
  scope: new Set(['account:read']),
  clientId: 'client-1',
  grantId: 'grant-1',
};

/** The defaults of the configuration. */
export const LIMITS = {
  tokens: 1000,
  depth: 12,
  fields: 400,
  aliases: 30,
  rootFields: 10,
  directives: 50,
  cost: 5000,
  pageSize: 100,
  upstreamCalls: 50,
};

/** The contract's query, as clients send it. */
export const CONTRACT_QUERY = `query ($n: Int) { viewer { id email enrolledCourses(first: $n) { nodes {
  slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }`;

export const CONTRACT_FILE = readText('schema/account.graphql');
export const MAPPING_FILE = {
  file: 'schema/upstream/school.graphql',
  text: readText('schema/upstream/school.graphql'),
};

export const EVENTS_MAPPING_FILE = {
  file: 'schema/upstream/events.graphql',
  text: readText('schema/upstream/events.graphql'),
};
export const EVENTS_SCHEMA_FILE = {
  upstream: 'events',
  file: 'schema/upstream/recorded/events.graphql',
  text: readText('schema/upstream/recorded/events.graphql'),
};

/** A contract of one file. */
export const contractFiles = (text: string) => [{ file: 'account.graphql', text }];

/** The text of a file of the project. */
export function readText(file: string): string {
  return readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
}

/** Upstream calls as the gateway makes them, with fetch: identity from the principal, failures from the shared table. */
export function callOver(origin: string, timeout = 5000): CallForPrincipal {
  return async ({ method, path, headers, body, principal, signal }) => {
    const limit = AbortSignal.timeout(timeout);
    try {
      const response = await fetch(origin + path, {
        method,
        body: body ?? null,
        redirect: 'manual',
        headers: { ...headers, 'x-member-id': principal.kind === 'member' ? principal.sub : '' },
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      return { status: response.status, headers: {}, body: await response.text() };
    } catch (cause) {
      throw new GatewayError(limit.aborted ? 'upstream_timeout' : 'upstream_unreachable', { cause });
    }
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is judged field by field
  readonly body: any;
}

export interface TestAccount {
  readonly url: string;
  readonly readScopes: readonly string[];
  readonly errors: unknown[];
  /** For each of the errors: the field and its place in the mapping. */
  readonly failed: (string | undefined)[];
  /** Sends a body unchanged. */
  send(body: string | Uint8Array, headers?: Record<string, string>): Promise<Reply>;
  /** Sends a query. */
  ask(query: string, variables?: unknown, headers?: Record<string, string>): Promise<Reply>;
  close(): Promise<void>;
}

/** The endpoint behind a real server, for one member. */
export async function startAccount(
  options: Partial<AccountOptions> & Pick<AccountOptions, 'call'>,
  principal = MEMBER,
): Promise<TestAccount> {
  const errors: unknown[] = [];
  const failed: (string | undefined)[] = [];
  const { endpoint, readScopes } = createAccount({
    schema: contractFiles(CONTRACT_FILE),
    mappings: [MAPPING_FILE, EVENTS_MAPPING_FILE],
    recorded: [EVENTS_SCHEMA_FILE],
    upstreams: ['school', 'progress', 'events'],
    config: { open: { currency: 'EUR' }, secret: {} },
    scopes: ['account:read', 'account:write', 'orders:read'],
    metadataUrl: 'https://school.example/.well-known/oauth-protected-resource',
    limits: LIMITS,
    introspection: true,
    documents: undefined,
    bodyLimit: 64 * 1024,
    deadline: 5,
    onError(error, where) {
      errors.push(error);
      failed.push(where);
    },
    ...options,
  });
  const server = createServer((request, response) => void endpoint(request, response, principal));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/account/graphql`;
  const send: TestAccount['send'] = async (body, headers = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      body: body as string,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  };
  return {
    url,
    readScopes,
    errors,
    failed,
    send,
    ask: (query, variables, headers) => send(JSON.stringify({ query, variables }), headers),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
