import { beforeEach, describe, expect, it } from 'vitest';
import { formatChallenge } from '../../src/oauth/challenge.ts';
import type { ActiveToken, Introspection } from '../../src/oauth/introspection.ts';
import { proofCheck } from '../../src/resource-server/dpop.ts';
import { createGate, type Gate, type Presented, type Protection } from '../../src/resource-server/gate.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';

const NOW = 1_800_000_000;
const ORIGIN = 'https://school.example';
const PROTECTION: Protection = {
  resource: {
    resource: ORIGIN,
    path: '',
    audiences: [ORIGIN],
    metadataUrl: `${ORIGIN}/.well-known/oauth-protected-resource`,
  },
  scopes: new Set(['courses:read']),
  anonymous: 'refuse',
};
const GOOD: ActiveToken = {
  active: true,
  sub: 'm-1',
  clientId: 'c-1',
  scope: new Set(['openid', 'courses:read']),
  aud: [ORIGIN],
  exp: NOW + 600,
  grantId: 'g-1',
  jkt: undefined,
  details: { email: 'sam@example.com', name: 'Sam' },
};
const POINTER = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource", scope="courses:read"`;

describe('the gate', () => {
  let known: Record<string, Introspection>;
  let gate: Gate;
  beforeEach(() => {
    known = { good: GOOD };
    const clock = () => NOW * 1000;
    gate = createGate(
      async (token) => known[token] ?? { active: false },
      proofCheck(memoryStore(clock), clock),
      () => NOW,
    );
  });

  const present = (authorization: string[], protection: Partial<Protection> = {}) => {
    const presented: Presented = { authorization, dpop: [], method: 'GET', url: `${ORIGIN}/api/v1/courses` };
    return gate(presented, { ...PROTECTION, ...protection });
  };
  const refusal = async (authorization: string[]) => {
    const decision = await present(authorization);
    return decision.kind === 'refused'
      ? [decision.challenge.status, formatChallenge(decision.challenge)]
      : ['admitted', decision.principal.kind];
  };

  it('admits a member, and removes the token', async () => {
    expect(await present(['Bearer good'])).toEqual({
      kind: 'admitted',
      principal: {
        kind: 'member',
        sub: 'm-1',
        details: { email: 'sam@example.com', name: 'Sam' },
        scope: new Set(['openid', 'courses:read']),
        clientId: 'c-1',
        grantId: 'g-1',
      },
      expires: NOW + 600,
    });
  });

  it('admits requests without a token if the route allows it, and still refuses a bad token', async () => {
    expect(await present([], { anonymous: 'serve' })).toEqual({ kind: 'admitted', principal: { kind: 'anonymous' } });
    expect(await present(['Bearer bad'], { anonymous: 'serve' })).toMatchObject({ kind: 'refused' });
    expect(await present(['DPoP bad'], { anonymous: 'serve' })).toMatchObject({ kind: 'refused' });
  });

  it.each([
    { what: 'nothing', fields: [], scheme: 'Bearer', says: 'an access token is needed' },
    { what: 'Basic', fields: ['Basic Zm9v'], says: 'the Authorization scheme is neither Bearer nor DPoP' },
    { what: 'a bare token', fields: ['good'], says: 'the Authorization scheme is neither Bearer nor DPoP' },
    {
      what: 'nothing after the scheme',
      fields: ['Bearer'],
      says: 'the Authorization header does not hold one access token',
    },
    {
      what: 'two tokens',
      fields: ['Bearer good, good'],
      says: 'the Authorization header does not hold one access token',
    },
    {
      what: 'a token of 4,097 characters',
      fields: [`Bearer ${'x'.repeat(4097)}`],
      says: 'the Authorization header does not hold one access token',
    },
    {
      what: 'an unknown token of 4,096 characters',
      fields: [`Bearer ${'x'.repeat(4096)}`],
      says: 'the access token is invalid, expired or revoked',
    },
    { what: 'two fields', fields: ['Bearer good', 'Bearer good'], says: 'more than one Authorization header' },
    { what: 'two schemes', fields: ['Bearer good', 'DPoP good'], says: 'more than one Authorization header' },
    { what: 'an unknown token', fields: ['Bearer bad'], says: 'the access token is invalid, expired or revoked' },
  ])('refuses $what with one Bearer challenge', async ({ fields, says }) => {
    expect(await refusal(fields)).toEqual([
      401,
      `Bearer error="invalid_token", error_description="${says}", ${POINTER}`,
    ]);
  });

  it.each([
    {
      what: 'nothing after the scheme',
      fields: ['DPoP'],
      says: 'the Authorization header does not hold one access token',
    },
    { what: 'an unknown token', fields: ['dpop bad'], says: 'the access token is invalid, expired or revoked' },
    {
      what: 'a token that is not bound to a key',
      fields: ['DPoP good'],
      says: 'the access token is not bound to a key: send it with the Bearer scheme',
    },
  ])('refuses $what with one DPoP challenge', async ({ fields, says }) => {
    expect(await refusal(fields)).toEqual([
      401,
      `DPoP error="invalid_token", error_description="${says}", ` +
        `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource", ` +
        'algs="ES256 Ed25519 EdDSA", scope="courses:read"',
    ]);
  });

  it.each([
    { what: 'inactive before everything else', token: { active: false }, error: 'invalid_token', says: /is invalid/ },
    {
      what: 'wrong audience before expired',
      token: { ...GOOD, aud: ['https://other.example'], exp: NOW },
      error: 'invalid_token',
      says: /another resource/,
    },
    {
      what: 'a foreign audience besides ours',
      token: { ...GOOD, aud: [ORIGIN, 'https://other.example'] },
      error: 'invalid_token',
      says: /another resource/,
    },
    { what: 'no audience', token: { ...GOOD, aud: [] }, error: 'invalid_token', says: /another resource/ },
    {
      what: 'expired before the wrong scheme',
      token: { ...GOOD, exp: NOW, jkt: 'key' },
      error: 'invalid_token',
      says: /expired/,
    },
    {
      what: 'the wrong scheme before a missing scope',
      token: { ...GOOD, jkt: 'key', scope: new Set(['openid']) },
      error: 'invalid_token',
      says: /bound to a key/,
    },
    {
      what: 'a missing scope last',
      token: { ...GOOD, scope: new Set(['openid']) },
      error: 'insufficient_scope',
      says: /lacks a scope/,
    },
  ] as const)('checks in order: $what', async ({ token, error, says }) => {
    known.judged = token;
    const decision = await present(['Bearer judged']);
    expect(decision).toMatchObject({ kind: 'refused', challenge: { scheme: 'Bearer', error } });
    expect(decision.kind === 'refused' && decision.challenge.description).toMatch(says);
  });

  it('says of a refused token whether it is one of this gate, and whose', async () => {
    known.foreign = { ...GOOD, aud: ['https://other.example'] };
    for (const token of ['foreign', 'unknown', 'malformed one'])
      expect(await present([`Bearer ${token}`])).toMatchObject(
        token === 'foreign' ? { known: true, principal: { kind: 'member', sub: 'm-1' } } : { known: false },
      );
    expect(await present(['Bearer unknown'])).not.toHaveProperty('principal');
  });

  it('names the granted and the missing scope in a 403', async () => {
    known.little = { ...GOOD, scope: new Set(['openid']) };
    expect(await refusal(['Bearer little'])).toEqual([
      403,
      'Bearer error="insufficient_scope", error_description="the access token lacks a scope that is needed here", ' +
        `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource", scope="openid courses:read"`,
    ]);
  });
});
