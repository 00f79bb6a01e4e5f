import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { createAccount } from '../../../src/account/endpoint.ts';
import { createCallUpstream } from '../../../src/upstream/call.ts';
import { createPools } from '../../../src/upstream/pools.ts';
import { upstreamConfig } from '../../support/upstream-config.ts';
import { contractFiles, LIMITS, MEMBER } from '../support/account.ts';
import type { Outcome } from './monolith.ts';
import { CONTRACT, MAPPING, UPSTREAM } from './schemas.ts';

const PLENTY = {
  tokens: 1e6,
  depth: 100,
  fields: 1000,
  aliases: Number.POSITIVE_INFINITY,
  rootFields: Number.POSITIVE_INFINITY,
  directives: Number.POSITIVE_INFINITY,
  cost: Number.POSITIVE_INFINITY,
};

export interface Gateway {
  ask(query: string, variables: object, memberId: string): Promise<Outcome>;
  close(): Promise<void>;
}

/** The Account API behind a real server, with real upstream calls. */
export async function startGateway(origin: string): Promise<Gateway> {
  const upstreams = { people: upstreamConfig(origin), courses: upstreamConfig(origin) };
  const pools = createPools(upstreams);
  const identity = async (principal: { kind: string; sub?: string }) => ({ 'X-Member-Id': principal.sub ?? '' });
  const { endpoint } = createAccount({
    schema: contractFiles(CONTRACT),
    mappings: [{ file: 'map.graphql', text: MAPPING }],
    recorded: [{ upstream: 'people', file: 'people.graphql', text: UPSTREAM }],
    upstreams: Object.keys(upstreams),
    config: { open: {}, secret: {} },
    scopes: [],
    metadataUrl: 'https://school.example/.well-known/oauth-protected-resource',
    limits: { ...LIMITS, ...PLENTY, upstreamCalls: 1e6 },
    introspection: true,
    documents: undefined,
    bodyLimit: 1e6,
    deadline: 60,
    call: createCallUpstream({ upstreams, pools, identity, origin: 'https://school.example' }),
  });
  const server = createServer((request, response) => {
    void endpoint(request, response, { ...MEMBER, sub: String(request.headers['x-test-member']) });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 32 });
  return {
    async ask(query, variables, memberId) {
      const { body } = await client.request({
        method: 'POST',
        path: '/account/graphql',
        headers: { 'content-type': 'application/json', 'x-test-member': memberId },
        body: JSON.stringify({ query, variables }),
      });
      const result = (await body.json()) as { data?: unknown; errors?: readonly Said[]; extensions?: object };
      const errors = (result.errors ?? []).map(({ path, extensions }) => `${path?.join('.')} ${extensions.code}`);
      return { data: result.data, errors: errors.sort() };
    },
    async close() {
      await client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await pools.close();
    },
  };
}

interface Said {
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string };
}
