import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createAccount } from '../../src/account/endpoint.ts';
import { account as accountBlock } from '../../src/account/settings.ts';
import type { MemberPrincipal } from '../../src/oauth/principal.ts';
import { createCallUpstream } from '../../src/upstream/call.ts';
import { createIdentity } from '../../src/upstream/identity.ts';
import { createPools } from '../../src/upstream/pools.ts';
import { upstreamConfig } from '../../test/support/upstream-config.ts';

/** Our endpoint and its upstream calls, with default settings and without the gate in front. */
const ORIGIN = 'http://bench.test';
const text = (file: string) => readFileSync(new URL(`../../test/account/fixtures/${file}`, import.meta.url), 'utf8');
const upstreams = Object.fromEntries(
  ['school', 'progress'].map((name) => [name, upstreamConfig(process.env.UPSTREAM ?? '')]),
);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const identity = createIdentity({
  issuer: ORIGIN,
  signingKey: async () => ({ kid: 'k1', key: privateKey }),
  clock: Date.now,
});
const principal: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1001',
  details: { email: 'student@example.com', name: 'Sam' },
  scope: new Set(['account:read']),
  clientId: 'client-1',
  grantId: 'grant-1',
};
const { limits, bodyLimit, deadline, introspection } = accountBlock.parse({ schema: 'given', mappings: 'given' });
const { endpoint } = createAccount({
  schema: [{ file: 'courses.graphql', text: text('courses.graphql') }],
  mappings: [{ file: 'courses.map.graphql', text: text('courses.map.graphql') }],
  upstreams: Object.keys(upstreams),
  config: { open: { currency: 'EUR' }, secret: {} },
  scopes: ['account:read', 'account:write'],
  metadataUrl: `${ORIGIN}/.well-known/oauth-protected-resource`,
  limits,
  bodyLimit,
  deadline,
  introspection,
  documents: undefined,
  call: createCallUpstream({ upstreams, pools: createPools(upstreams), identity, origin: ORIGIN }),
});
createServer((request, response) => void endpoint(request, response, principal)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
);
// The CPU profile is written only if the process exits normally.
process.once('SIGTERM', () => process.exit());
