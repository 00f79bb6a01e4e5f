import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Introspection } from '../../../src/oauth/introspection.ts';
import { protectedResource } from '../../../src/oauth/protected-resource.ts';
import { cachedIntrospect } from '../../../src/resource-server/cache.ts';
import { createGate } from '../../../src/resource-server/gate.ts';
import { createIdentity } from '../../../src/upstream/identity.ts';

/** The gate's own decision and identity headers, in front of http-proxy-middleware with its usual settings. */
const ORIGIN = 'http://bench.test';
const resource = protectedResource(ORIGIN, '');
const scope = new Set(['courses:read', 'account:read']);
const known = new Map<string, Introspection>();
for (const [at, token] of readFileSync(process.env.TOKENS ?? '', 'utf8')
  .split('\n')
  .entries()) {
  known.set(token, {
    active: true,
    sub: `m-${at}`,
    clientId: 'client-1',
    scope,
    aud: [ORIGIN],
    exp: Math.floor(Date.now() / 1000) + 86_400,
    grantId: `grant-${at}`,
    jkt: undefined,
    details: { email: 'student@example.com', name: 'Sam' },
  });
}
const cache = cachedIntrospect(async (token) => known.get(token) ?? { active: false }, Date.now);
const gate = createGate(
  cache.introspect,
  async () => undefined,
  () => Math.floor(Date.now() / 1000),
);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const identity = createIdentity({
  issuer: ORIGIN,
  signingKey: async () => ({ kid: 'k1', key: privateKey }),
  clock: Date.now,
});
const protection = { resource, scopes: new Set(['courses:read']), anonymous: 'refuse' } as const;

const app = express();
app.use('/api/bench', async (request, response, next) => {
  const { authorization } = request.headers;
  const presented = {
    authorization: authorization === undefined ? [] : [authorization],
    dpop: [],
    method: request.method,
    url: ORIGIN + request.originalUrl,
  };
  const verdict = await gate(presented, protection);
  if (verdict.kind === 'refused') return void response.status(verdict.challenge.status).end();
  delete request.headers.authorization;
  Object.assign(request.headers, lowered(await identity(verdict.principal, 'bench', ['headers', 'assertion'])));
  next();
});
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const options = { agent, changeOrigin: true, xfwd: true };
app.use(createProxyMiddleware({ ...options, target: process.env.STREAMS ?? '', pathFilter: '/api/bench/stream' }));
app.use(createProxyMiddleware({ ...options, target: process.env.UPSTREAM ?? '' }));
app.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4096 } as never);

function lowered(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}
