import { request as httpRequest } from 'node:http';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, authorizationRequest, bearer, INSECURE, introspect, postForm, registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { type ProofKey, proofKey, proven, signProof } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

const ALGORITHMS = ['ES256', 'Ed25519', 'EdDSA'];

describe.each([
  { profile: 'A', account: true },
  { profile: 'B', account: false },
])('DPoP in Profile $profile', ({ profile, account }) => {
  let world: World;
  let courses: string;
  let tokenUrl: string;
  beforeAll(async () => {
    world = await startWorld({ profile });
    courses = `${world.origin}/api/v1/courses`;
    tokenUrl = `${world.origin}/api/oauth/token`;
  });
  afterAll(() => world.close());

  /** An authorization that the member approved for `app`, ready to be redeemed. */
  const approved = async (app: App, parameters: Record<string, string> = {}) => {
    const request = await authorizationRequest(app, parameters);
    const returned = await approve(request.url, app.redirectUri);
    return {
      grant_type: 'authorization_code',
      code: returned.searchParams.get('code') ?? '',
      code_verifier: request.verifier,
      redirect_uri: app.redirectUri,
      client_id: app.client.client_id,
      client_secret: app.client.client_secret as string | undefined,
      resource: app.resource,
      returned,
      request,
    };
  };
  type Approved = Awaited<ReturnType<typeof approved>>;

  const redeem = async ({ returned: _, request: __, ...fields }: Approved, proof?: string) => {
    const response = await postForm(tokenUrl, fields, proof === undefined ? {} : { dpop: proof });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, string>,
    };
  };
  const tokenProof = (key: ProofKey, claims: Record<string, unknown> = {}) =>
    signProof(key, { htm: 'POST', htu: tokenUrl, ...claims });

  /** A member's tokens, bound to `key` with a handmade proof, or unbound without a key. */
  const obtain = async (app: App, key?: ProofKey): Promise<{ access: string; refresh: string }> => {
    const { status, body } = await redeem(await approved(app), key && (await tokenProof(key)));
    expect([status, body.token_type]).toEqual([200, key === undefined ? 'Bearer' : 'DPoP']);
    return { access: String(body.access_token), refresh: String(body.refresh_token) };
  };

  const refusal = async (response: Response) => [response.status, response.headers.get('www-authenticate')];
  const invalid = (error: string, description: string, scope = 'courses:read') =>
    `DPoP error="${error}", error_description="${description}", ` +
    `resource_metadata="${world.origin}/.well-known/oauth-protected-resource", ` +
    `algs="ES256 Ed25519 EdDSA", scope="${scope}"`;

  describe.each([
    { kind: 'public', confidential: false },
    { kind: 'confidential', confidential: true },
  ])('a $kind app', ({ confidential }) => {
    it.each(['ES256', 'Ed25519'])('completes the whole flow with a key for %s', async (alg) => {
      const app = await registerApp(world.origin, { confidential });
      expect(app.server.dpop_signing_alg_values_supported).toEqual(ALGORITHMS);
      const DPoP = oauth.DPoP(app.client, await oauth.generateKeyPair(alg));
      const jkt = await DPoP.calculateThumbprint();

      const grant = await approved(app);
      const parameters = oauth.validateAuthResponse(app.server, app.client, grant.returned, grant.request.state);
      const tokens = await oauth.processAuthorizationCodeResponse(
        app.server,
        app.client,
        await oauth.authorizationCodeGrantRequest(
          app.server,
          app.client,
          app.auth,
          parameters,
          app.redirectUri,
          grant.request.verifier,
          { ...INSECURE, DPoP, additionalParameters: { resource: app.resource } },
        ),
      );
      expect(tokens.token_type).toBe('dpop');

      const use = async (token: string) => {
        const options = { ...INSECURE, DPoP };
        const list = await oauth.protectedResourceRequest(
          token,
          'GET',
          new URL(`${courses}?per_page=2`),
          undefined,
          undefined,
          options,
        );
        expect(((await list.json()) as { data: unknown[] }).data).toHaveLength(2);
        const who = await oauth.userInfoRequest(app.server, app.client, token, options);
        expect(await oauth.processUserInfoResponse(app.server, app.client, 'm-1001', who)).toMatchObject({
          sub: 'm-1001',
        });
        if (account) {
          const asked = await oauth.protectedResourceRequest(
            token,
            'POST',
            new URL(`${world.origin}/account/graphql`),
            new Headers({ 'content-type': 'application/json' }),
            JSON.stringify({ query: '{ __typename }' }),
            options,
          );
          expect(await asked.json()).toEqual({ data: { __typename: 'Query' } });
        }
        expect(await introspect(app, token)).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt } });
      };
      await use(tokens.access_token);

      const renewed = await oauth.processRefreshTokenResponse(
        app.server,
        app.client,
        await oauth.refreshTokenGrantRequest(app.server, app.client, app.auth, String(tokens.refresh_token), {
          ...INSECURE,
          DPoP,
          additionalParameters: { resource: app.resource },
        }),
      );
      expect(renewed.token_type).toBe('dpop');
      await use(renewed.access_token);

      const form = {
        token: renewed.access_token,
        client_id: app.client.client_id,
        client_secret: app.client.client_secret as string | undefined,
      };
      expect((await postForm(app.server.revocation_endpoint, form)).status).toBe(200);
      const after = await proofKey();
      expect(
        (await fetch(courses, { headers: await proven(after, renewed.access_token, 'GET', courses) })).status,
      ).toBe(401);
    });
  });

  it('is announced in every metadata document', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-protected-resource',
    ]) {
      expect(await (await fetch(world.origin + path)).json()).toMatchObject({
        dpop_signing_alg_values_supported: ALGORITHMS,
      });
    }
  });

  it('lets another origin send a proof and read a nonce', async () => {
    for (const door of [courses, tokenUrl]) {
      const preflight = await fetch(door, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': door === tokenUrl ? 'POST' : 'GET',
          'access-control-request-headers': 'authorization,dpop',
        },
      });
      expect(preflight.headers.get('access-control-allow-headers')).toMatch(/\bdpop\b/i);
      const answer = await fetch(door, {
        method: door === tokenUrl ? 'POST' : 'GET',
        headers: { origin: 'https://app.example' },
      });
      expect(answer.headers.get('access-control-expose-headers')).toMatch(/\bdpop-nonce\b/i);
    }
  });

  describe('at the gate', () => {
    let key: ProofKey;
    let access: string;
    beforeAll(async () => {
      key = await proofKey();
      access = (await obtain(await registerApp(world.origin), key)).access;
    });

    it('a bound token is refused as Bearer, with a proof or without', async () => {
      const { dpop } = await proven(key, access, 'GET', courses);
      for (const headers of [bearer(access), { ...bearer(access), dpop: String(dpop) }]) {
        expect(await refusal(await fetch(courses, { headers }))).toEqual([
          401,
          'Bearer error="invalid_token", ' +
            'error_description="the access token is bound to a key: send it with the DPoP scheme and a proof", ' +
            `resource_metadata="${world.origin}/.well-known/oauth-protected-resource", scope="courses:read"`,
        ]);
      }
    });

    it('a token without a key is refused in the scheme DPoP', async () => {
      const { access: unbound } = await obtain(await registerApp(world.origin));
      expect(await refusal(await fetch(courses, { headers: await proven(key, unbound, 'GET', courses) }))).toEqual([
        401,
        invalid('invalid_token', 'the access token is not bound to a key: send it with the Bearer scheme'),
      ]);
    });

    it.each([
      { what: 'the URL of another endpoint', claims: { htu: 'https://evil.example/api/v1/courses' }, says: /the htu/ },
      { what: 'another method', claims: { htm: 'POST' }, says: /the htm/ },
      { what: 'the hash of another token', claims: { ath: 'x' }, says: /the ath/ },
      { what: 'an old iat', claims: { iat: 1_700_000_000 }, says: /the iat/ },
    ])('a proof with $what is refused at every endpoint', async ({ claims, says }) => {
      const doors = [
        { method: 'GET', url: courses },
        { method: 'GET', url: `${world.origin}/api/oauth/userinfo` },
        ...(account ? [{ method: 'POST', url: `${world.origin}/account/graphql` }] : []),
      ];
      for (const { method, url } of doors) {
        const other = claims.htm === undefined ? claims : { htm: method === 'GET' ? 'POST' : 'GET' };
        const headers = await proven(key, access, method, url, other);
        const answer = await fetch(url, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof", /);
        expect(await answer.json()).toMatchObject({
          error: 'invalid_dpop_proof',
          error_description: expect.stringMatching(says),
        });
      }
    });

    it('exactly one DPoP header field is accepted', async () => {
      const [one, two] = await Promise.all([proven(key, access, 'GET', courses), proven(key, access, 'GET', courses)]);
      const send = (dpop: string[]) =>
        rawGet(courses, { authorization: `DPoP ${access}`, ...(dpop.length > 0 ? { dpop } : {}) });
      for (const fields of [[], [String(one.dpop), String(two.dpop)]]) {
        const answer = await send(fields);
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([
          401,
          invalid('invalid_dpop_proof', 'exactly one DPoP header is needed with this token'),
        ]);
      }
      expect((await send([String(one.dpop)])).status).toBe(200);
    });

    it('the htu is compared with the configured origin, not with Host', async () => {
      const port = new URL(world.origin).port;
      const lying = await proven(key, access, 'GET', `http://evil.example:${port}/api/v1/courses`);
      expect((await rawGet(courses, { ...lying, host: `evil.example:${port}` })).status).toBe(401);
      const honest = await proven(key, access, 'GET', courses);
      expect((await rawGet(courses, { ...honest, host: `evil.example:${port}` })).status).toBe(200);
    });

    it('one of twenty equal proofs at once is admitted, and none after a restart', async () => {
      const headers = await proven(key, access, 'GET', courses);
      const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(courses, { headers })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = answers.filter(({ status }) => status === 401);
      expect(refused).toHaveLength(19);
      const challenge = invalid('invalid_dpop_proof', 'the DPoP proof was used before');
      for (const answer of refused) expect(answer.headers.get('www-authenticate')).toBe(challenge);
      await world.restart();
      expect(await refusal(await fetch(courses, { headers }))).toEqual([401, challenge]);
      expect((await fetch(courses, { headers: await proven(key, access, 'GET', courses) })).status).toBe(200);
    });

    it('neither token nor proof reaches the school', async () => {
      const url = `${world.origin}/api/v1/whoami`;
      const { data } = (await (await fetch(url, { headers: await proven(key, access, 'GET', url) })).json()) as {
        data: { member_id: string; headers: Record<string, string> };
      };
      expect(data.member_id).toBe('m-1001');
      expect(data.headers).not.toHaveProperty('dpop');
      expect(data.headers).not.toHaveProperty('authorization');
    });
  });

  describe('at the token endpoint', () => {
    it('a replayed proof is refused, and the code stays valid', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const [first, second] = [await approved(app), await approved(app)];
      const proof = await tokenProof(key);
      expect((await redeem(first, proof)).status).toBe(200);
      expect(await redeem(second, proof)).toMatchObject({
        status: 400,
        body: { error: 'invalid_dpop_proof', error_description: 'the DPoP proof was used before' },
      });
      expect(await redeem(second, await tokenProof(key))).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    });

    it('a used code with a new proof of the same key is refused, and ends nothing', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const grant = await approved(app);
      const { body: first } = await redeem(grant, await tokenProof(key));
      expect(await redeem(grant, await tokenProof(key))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
      const headers = await proven(key, String(first.access_token), 'GET', courses);
      expect((await fetch(courses, { headers })).status).toBe(200);
    });

    it.each(['another key', 'no key'])('a used code with %s ends the connection', async (with_) => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const grant = await approved(app);
      const { body: first } = await redeem(grant, await tokenProof(key));
      const again = await redeem(grant, with_ === 'no key' ? undefined : await tokenProof(await proofKey()));
      expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      const headers = await proven(key, String(first.access_token), 'GET', courses);
      expect((await fetch(courses, { headers })).status).toBe(401);
    });

    it('a proof is used up by a request that fails', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const grant = await approved(app);
      const proof = await tokenProof(key);
      const failed = await redeem({ ...grant, resource: 'https://other.example' }, proof);
      expect(failed).toMatchObject({ status: 400, body: { error: 'invalid_target' } });
      expect(await redeem(grant, proof)).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } });
      expect((await redeem(grant, await tokenProof(key))).status).toBe(200);
    });

    it('one of eight codes sent at once with the same proof is redeemed, and the others stay valid', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const grants: Approved[] = [];
      for (let i = 0; i < 8; i += 1) grants.push(await approved(app));
      const proof = await tokenProof(key);
      const answers = await Promise.all(grants.map((grant) => redeem(grant, proof)));
      expect(answers.map(({ status, body }) => (status === 200 ? 'ok' : body.error)).sort()).toEqual([
        ...Array(7).fill('invalid_dpop_proof'),
        'ok',
      ]);
      for (const [at, grant] of grants.entries()) {
        if (answers[at]?.status !== 200) expect((await redeem(grant, await tokenProof(key))).status).toBe(200);
      }
    });

    it('one of twenty equal requests at once gets tokens', async () => {
      const grant = await approved(await registerApp(world.origin));
      const proof = await tokenProof(await proofKey());
      const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(grant, proof)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    it.each([
      { what: 'for another URL', claims: { htu: 'https://evil.example/api/oauth/token' } },
      { what: 'for another method', claims: { htm: 'GET' } },
    ])('a proof $what is invalid_dpop_proof, and the code stays valid', async ({ claims }) => {
      const key = await proofKey();
      const grant = await approved(await registerApp(world.origin));
      expect(await redeem(grant, await tokenProof(key, claims))).toMatchObject({
        status: 400,
        body: { error: 'invalid_dpop_proof' },
      });
      expect((await redeem(grant, await tokenProof(key))).status).toBe(200);
    });

    it('a client with a wrong clock gets a nonce, and succeeds with it', async () => {
      const key = await proofKey();
      const grant = await approved(await registerApp(world.origin));
      const iat = Math.floor(Date.now() / 1000) - 3600;
      const told = await redeem(grant, await tokenProof(key, { iat }));
      expect(told).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
      const nonce = told.headers.get('dpop-nonce');
      expect(nonce).toMatch(/^[\w-]{43}$/);
      await world.restart();
      expect((await redeem(grant, await tokenProof(key, { iat, nonce: `${nonce}x` }))).body.error).toBe(
        'use_dpop_nonce',
      );
      expect((await redeem(grant, await tokenProof(key, { iat, nonce }))).status).toBe(200);
    });

    it('a public app’s refresh token is bound to the key, and stays valid when it is tried without', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const { refresh } = await obtain(app, key);
      const renew = async (proof?: string) => {
        const fields = {
          grant_type: 'refresh_token',
          refresh_token: refresh,
          client_id: app.client.client_id,
          resource: app.resource,
        };
        const response = await postForm(tokenUrl, fields, proof === undefined ? {} : { dpop: proof });
        return { status: response.status, body: (await response.json()) as Record<string, string> };
      };
      expect(await renew()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(await renew(await tokenProof(await proofKey()))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
      expect(await renew(await tokenProof(key))).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
    });

    it('a code is bound to the key that the authorization request named (dpop_jkt)', async () => {
      const app = await registerApp(world.origin);
      const key = await proofKey();
      const grant = await approved(app, { dpop_jkt: key.jkt });
      expect(await redeem(grant)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(await redeem(grant, await tokenProof(await proofKey()))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      });
      expect((await redeem(grant, await tokenProof(key))).status).toBe(200);
    });

    it('an app that registered with dpop_bound_access_tokens gets only bound tokens', async () => {
      const app = await registerApp(world.origin, { metadata: { dpop_bound_access_tokens: true as never } });
      const grant = await approved(app);
      expect(await redeem(grant)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await redeem(grant, await tokenProof(await proofKey()))).status).toBe(200);
    });
  });
});

it('a proof dated ahead is remembered by the authorization server for as long as it would be accepted', async () => {
  const world = await startWorld({ profile: 'A', clock: () => Date.now() });
  try {
    const app = await registerApp(world.origin);
    const url = `${world.origin}/api/oauth/par`;
    const fields = Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams);
    const start = Date.now();
    const iat = Math.floor(start / 1000) + 290;
    const dpop = await signProof(await proofKey(), { htm: 'POST', htu: url, iat });
    expect((await postForm(url, fields, { dpop })).status).toBe(201);
    vi.useFakeTimers({ toFake: ['Date'], now: start + 400_000 });
    const again = await postForm(url, fields, { dpop });
    expect(await again.json()).toMatchObject({
      error: 'invalid_dpop_proof',
      error_description: 'the DPoP proof was used before',
    });
  } finally {
    vi.useRealTimers();
    await world.close();
  }
});

/** A GET with the header fields as given: a repeated field is sent twice, and Host can be set. */
function rawGet(url: string, headers: Record<string, string | string[]>) {
  return new Promise<{ status: number | undefined; headers: Record<string, unknown> }>((resolve, reject) => {
    const request = httpRequest(url, { headers }, (response) => {
      response.resume();
      response.once('end', () => resolve({ status: response.statusCode, headers: response.headers }));
    });
    request.once('error', reject);
    request.end();
  });
}
