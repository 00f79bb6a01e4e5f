import { SignJWT, UnsecuredJWT } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import type { Introspection } from '../../src/oauth/introspection.ts';
import { proofCheck } from '../../src/resource-server/dpop.ts';
import { createGate, type Decision, type Protection } from '../../src/resource-server/gate.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { hashOf, type ProofKey, proofKey, signProof } from '../support/proof.ts';

const START = 1_800_000_000;
const ORIGIN = 'https://school.example';
const URL_HERE = `${ORIGIN}/api/v1/courses`;
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

describe('a DPoP-bound token', () => {
  let key: ProofKey;
  let otherKey: ProofKey;
  let edKey: ProofKey;
  let p384: ProofKey;
  beforeAll(async () => {
    [key, otherKey, edKey, p384] = await Promise.all([proofKey(), proofKey(), proofKey('Ed25519'), proofKey('ES384')]);
  });

  let now: number;
  let store: Store;
  beforeEach(() => {
    now = START;
    store = memoryStore(() => now * 1000);
  });

  const bound = (token: string): Introspection => {
    const jkt = { bound: key.jkt, 'bound-to-ed': edKey.jkt, little: key.jkt, 'bound-to-p384': p384.jkt }[token];
    if (jkt === undefined) return { active: false };
    const scope = new Set(token === 'little' ? ['openid'] : ['courses:read']);
    const rest = { sub: 'm-1', clientId: 'c-1', grantId: 'g-1', details: {} };
    return { active: true, scope, aud: [ORIGIN], exp: START + 600, jkt, ...rest };
  };

  const show = async (
    dpop: string[],
    change: { token?: string; method?: string; url?: string } = {},
  ): Promise<Decision> => {
    const gate = createGate(
      async (token) => bound(token),
      proofCheck(store, () => now * 1000),
      () => now,
    );
    const { token = 'bound', method = 'GET', url = URL_HERE } = change;
    return gate({ authorization: [`DPoP ${token}`], dpop, method, url }, PROTECTION);
  };

  const claims = (over: Record<string, unknown> = {}) => ({
    htm: 'GET',
    htu: URL_HERE,
    iat: START,
    ath: hashOf('bound'),
    ...over,
  });
  const good = (over: Record<string, unknown> = {}, header = {}) => signProof(key, claims(over), header);

  const ADMITTED = ['admitted'];
  const INVALID = (description: string) => [401, 'DPoP', 'invalid_dpop_proof', description];
  const told = (decision: Decision) => {
    if (decision.kind === 'admitted') return ADMITTED;
    const { status, scheme, error, description } = decision.challenge;
    return [status, scheme, error, description];
  };

  const ONE = INVALID('exactly one DPoP header is needed with this token');
  const UNSIGNED = INVALID('the DPoP proof is not a dpop+jwt signed by the public key in it');
  const JTI = INVALID('the jti of the DPoP proof must be a string of 1 to 128 characters');
  const HTM = INVALID('the htm of the DPoP proof is not the method of this request');
  const HTU = INVALID('the htu of the DPoP proof is not the URL of this request');
  const IAT = INVALID('the iat of the DPoP proof is too far from the time here');
  const ATH = INVALID('the ath of the DPoP proof is not the hash of the access token');
  const KEY = [401, 'DPoP', 'invalid_token', 'the access token is bound to another key'];

  const unsecured = (members: Record<string, unknown>) => new UnsecuredJWT(members).encode();
  const symmetric = () =>
    new SignJWT(claims({ jti: 'j' }))
      .setProtectedHeader({
        alg: 'HS256',
        typ: 'dpop+jwt',
        jwk: { kty: 'oct', k: 'c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0' } as never,
      })
      .sign(Buffer.from('secret-secret-secret-secret'));

  it.each<{ what: string; proofs: () => Promise<string>[]; answer: unknown[] }>([
    { what: 'a valid proof', proofs: () => [good()], answer: ADMITTED },
    { what: 'no proof', proofs: () => [], answer: ONE },
    { what: 'two proofs', proofs: () => [good(), good()], answer: ONE },
    { what: 'an empty field', proofs: () => [Promise.resolve('')], answer: UNSIGNED },
    { what: 'no JWT', proofs: () => [Promise.resolve('proof')], answer: UNSIGNED },
    {
      what: 'two proofs in one field',
      proofs: () => [Promise.all([good(), good()]).then((both) => both.join(', '))],
      answer: UNSIGNED,
    },
    { what: 'typ JWT', proofs: () => [good({}, { typ: 'JWT' })], answer: UNSIGNED },
    { what: 'no typ', proofs: () => [good({}, { typ: undefined })], answer: UNSIGNED },
    { what: 'no key', proofs: () => [good({}, { jwk: undefined })], answer: UNSIGNED },
    { what: 'a private key in the header', proofs: () => [good({}, { jwk: key.privateJwk })], answer: UNSIGNED },
    { what: 'a key that did not sign it', proofs: () => [good({}, { jwk: otherKey.publicJwk })], answer: UNSIGNED },
    {
      what: 'a broken signature',
      proofs: () => [good().then((proof) => `${proof.slice(0, proof.lastIndexOf('.'))}.${'A'.repeat(86)}`)],
      answer: UNSIGNED,
    },
    { what: 'a symmetric algorithm', proofs: () => [symmetric()], answer: UNSIGNED },
    { what: 'the algorithm none', proofs: () => [Promise.resolve(unsecured(claims({ jti: 'j' })))], answer: UNSIGNED },
    { what: 'no jti', proofs: () => [good({ jti: undefined })], answer: JTI },
    { what: 'an empty jti', proofs: () => [good({ jti: '' })], answer: JTI },
    { what: 'a jti of 128 characters', proofs: () => [good({ jti: 'j'.repeat(128) })], answer: ADMITTED },
    { what: 'a jti of 129 characters', proofs: () => [good({ jti: 'j'.repeat(129) })], answer: JTI },
    { what: 'another method', proofs: () => [good({ htm: 'POST' })], answer: HTM },
    { what: 'the method in lower case', proofs: () => [good({ htm: 'get' })], answer: HTM },
    { what: 'no method', proofs: () => [good({ htm: undefined })], answer: HTM },
    { what: 'no URL', proofs: () => [good({ htu: undefined })], answer: HTU },
    { what: 'only a path', proofs: () => [good({ htu: '/api/v1/courses' })], answer: HTU },
    { what: 'another path', proofs: () => [good({ htu: `${ORIGIN}/api/v1/users` })], answer: HTU },
    { what: 'a trailing slash', proofs: () => [good({ htu: `${URL_HERE}/` })], answer: HTU },
    { what: 'another host', proofs: () => [good({ htu: 'https://evil.example/api/v1/courses' })], answer: HTU },
    { what: 'another scheme', proofs: () => [good({ htu: 'http://school.example/api/v1/courses' })], answer: HTU },
    { what: 'another port', proofs: () => [good({ htu: 'https://school.example:8443/api/v1/courses' })], answer: HTU },
    { what: 'credentials', proofs: () => [good({ htu: 'https://a:b@school.example/api/v1/courses' })], answer: HTU },
    { what: 'a query and a fragment', proofs: () => [good({ htu: `${URL_HERE}?page=2#top` })], answer: ADMITTED },
    {
      what: 'a host in capitals',
      proofs: () => [good({ htu: 'HTTPS://School.Example/api/v1/courses' })],
      answer: ADMITTED,
    },
    {
      what: 'the default port',
      proofs: () => [good({ htu: 'https://school.example:443/api/v1/courses' })],
      answer: ADMITTED,
    },
    { what: 'escapes', proofs: () => [good({ htu: `${ORIGIN}/api/%761/./courses` })], answer: ADMITTED },
    { what: 'no iat', proofs: () => [good({ iat: undefined })], answer: IAT },
    { what: 'an iat 60 s ago', proofs: () => [good({ iat: START - 60 })], answer: ADMITTED },
    { what: 'an iat 61 s ago', proofs: () => [good({ iat: START - 61 })], answer: IAT },
    { what: 'an iat in 60 s', proofs: () => [good({ iat: START + 60 })], answer: ADMITTED },
    { what: 'an iat in 61 s', proofs: () => [good({ iat: START + 61 })], answer: IAT },
    { what: 'an exp that has passed', proofs: () => [good({ exp: START - 1 })], answer: UNSIGNED },
    { what: 'no ath', proofs: () => [good({ ath: undefined })], answer: ATH },
    { what: 'the ath of another token', proofs: () => [good({ ath: hashOf('other') })], answer: ATH },
    { what: 'a proof of another key', proofs: () => [signProof(otherKey, claims())], answer: KEY },
    { what: 'an unrequested nonce', proofs: () => [good({ nonce: 'n' })], answer: ADMITTED },
  ])('$what', async ({ proofs, answer }) => {
    expect(told(await show(await Promise.all(proofs())))).toEqual(answer);
  });

  it('accepts Ed25519 under both names, and no algorithm that is not advertised', async () => {
    for (const alg of ['Ed25519', 'EdDSA']) {
      const proof = await signProof(edKey, claims({ ath: hashOf('bound-to-ed') }), { alg });
      expect(told(await show([proof], { token: 'bound-to-ed' }))).toEqual(ADMITTED);
    }
    const proof = await signProof(p384, claims({ ath: hashOf('bound-to-p384') }));
    expect(told(await show([proof], { token: 'bound-to-p384' }))).toEqual(UNSIGNED);
  });

  it('compares URLs in a normalised spelling', async () => {
    const proof = await good({ htu: `${ORIGIN}/a/%7esam/[1]/caf%c3%a9` });
    expect(told(await show([proof], { url: `${ORIGIN}/a/~sam/%5B1%5D/caf%C3%A9` }))).toEqual(ADMITTED);
  });

  it('accepts a proof once, for as long as its iat would be valid', async () => {
    const proof = await good({ iat: START + 60 });
    expect(told(await show([proof]))).toEqual(ADMITTED);
    for (const later of [0, 59, 60, 61, 119, 120]) {
      now = START + later;
      expect(told(await show([proof]))).toEqual(INVALID('the DPoP proof was used before'));
    }
    now = START + 121;
    expect(told(await show([proof]))).toEqual(IAT);
  });

  it('admits one of twenty requests with the same proof at once', async () => {
    const proof = await good();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => show([proof])));
    expect(verdicts.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
  });

  it('distinguishes proofs by key and jti', async () => {
    expect(told(await show([await good({ jti: 'one' })]))).toEqual(ADMITTED);
    const ed = await signProof(edKey, claims({ jti: 'one', ath: hashOf('bound-to-ed') }));
    expect(told(await show([ed], { token: 'bound-to-ed' }))).toEqual(ADMITTED);
    expect(told(await show([await good({ jti: 'two' })]))).toEqual(ADMITTED);
    expect(told(await show([await good({ jti: 'one' })]))).toEqual(INVALID('the DPoP proof was used before'));
  });

  it('does not use up a refused proof', async () => {
    const proof = await good();
    expect(told(await show([proof], { method: 'POST' }))).toEqual(HTM);
    expect(told(await show([proof]))).toEqual(ADMITTED);
  });

  it('requires the proof before the scope, and reports a missing scope with the scheme DPoP', async () => {
    expect(told(await show([], { token: 'little' }))).toEqual(ONE);
    const proof = await good({ ath: hashOf('little') });
    expect(told(await show([proof], { token: 'little' })).slice(0, 3)).toEqual([403, 'DPoP', 'insufficient_scope']);
  });

  it('is refused while the store cannot say whether a proof was used', async () => {
    const ill: Store = { ...store, commit: () => Promise.reject(new GatewayError('store_unavailable')) };
    store = ill;
    await expect(show([await good()])).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
  });
});
