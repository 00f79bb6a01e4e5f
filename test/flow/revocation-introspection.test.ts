import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, postForm, registerApp } from '../support/app.ts';
import { connect, read, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each([{ profile: 'A' }, { profile: 'B' }])(
  'revocation and introspection in Profile $profile',
  ({ profile }) => {
    let world: World;
    let app: App;
    let other: App;
    beforeAll(async () => {
      world = await startWorld({ profile });
      app = await registerApp(world.origin);
      other = await registerApp(world.origin, { confidential: true });
    });
    afterAll(() => world.close());

    const start = async (by = app) => (await connect(by)) as unknown as Tokens;
    const formOf = (by: App, fields: Record<string, string | undefined>) => ({
      client_id: by.client.client_id,
      client_secret: by.client.client_secret === undefined ? undefined : String(by.client.client_secret),
      ...fields,
    });
    const revoke = async (by: App, fields: Record<string, string | undefined>) =>
      postForm(app.server.revocation_endpoint, formOf(by, fields));
    const introspect = async (by: App, fields: Record<string, string | undefined>) =>
      read(await postForm(app.server.introspection_endpoint, formOf(by, fields)));

    it.each(['unknown', '', 'x'.repeat(50_000)].map((value) => ({ value, name: value.slice(0, 10) })))(
      'revoking "$name" does not reveal whether it exists',
      async ({ value }) => {
        const answer = await revoke(app, { token: value });
        expect(answer.status).toBe(value === '' ? 400 : 200);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        if (value !== '') expect(await answer.text()).toBe('{}');
      },
    );

    it.each([undefined, 'access_token', 'refresh_token', 'nonsense'])(
      'revokes an access token and a refresh token, hinted %o',
      async (token_type_hint) => {
        const one = await start();
        const answer = await revoke(app, { token: one.access_token, token_type_hint });
        expect([answer.status, await answer.text()]).toEqual([200, '{}']);
        expect(await statusOf(world.origin, one.access_token)).toBe(401);

        const two = await start();
        expect((await revoke(app, { token: two.refresh_token, token_type_hint })).status).toBe(200);
        expect(await statusOf(world.origin, two.access_token)).toBe(401);
        expect((await token(app, refreshForm(app, two.refresh_token))).body.error).toBe('invalid_grant');
      },
    );

    it('revokes one connection of a member and leaves the others', async () => {
      const [one, two] = [await start(), await start()];
      await revoke(app, { token: one.refresh_token });
      expect(await statusOf(world.origin, one.access_token)).toBe(401);
      expect(await statusOf(world.origin, two.access_token)).toBe(200);
    });

    it('ignores the tokens of another app', async () => {
      const tokens = await start();
      for (const value of [tokens.access_token, tokens.refresh_token]) {
        const answer = await revoke(other, { token: value });
        expect([200, 400]).toContain(answer.status);
        expect(await introspect(other, { token: value })).toMatchObject({ status: 200, body: { active: false } });
      }
      expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
      expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
    });

    it('shows an app what its token is bound to', async () => {
      const before = Math.floor(Date.now() / 1000);
      const { access_token, refresh_token } = await start();
      const { status, headers, body } = await introspect(app, { token: access_token });
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(body).toEqual({
        active: true,
        token_type: 'Bearer',
        iss: world.origin,
        aud: world.origin,
        sub: 'm-1001',
        client_id: app.client.client_id,
        scope: 'openid profile email account:read courses:read',
        iat: expect.any(Number),
        auth_time: expect.any(Number),
        exp: Number(body.iat) + 600,
      });
      expect(Number(body.iat)).toBeGreaterThanOrEqual(before);
      expect(await introspect(app, { token: refresh_token })).toMatchObject({
        status: 200,
        body: { active: true, sub: 'm-1001', client_id: app.client.client_id },
      });
    });

    it('gives the same answer for every token that is not active for the caller', async () => {
      const { access_token } = await start();
      const revoked = await start();
      await revoke(app, { token: revoked.access_token });
      const cases: [App, string][] = [
        [app, 'unknown'],
        [app, `${access_token}x`],
        [app, access_token.slice(0, -1)],
        [app, revoked.access_token],
        [app, revoked.refresh_token],
        [other, access_token],
      ];
      for (const [by, value] of cases) {
        const { status, body } = await introspect(by, { token: value });
        expect({ status, body }).toEqual({ status: 200, body: { active: false } });
      }
    });

    it.each(['revocation_endpoint', 'introspection_endpoint'] as const)(
      '%s requires a client ID, and a secret from confidential clients',
      async (endpoint) => {
        const { access_token } = await start();
        const url = String(app.server[endpoint]);
        const basic = (secret: unknown) =>
          `Basic ${Buffer.from(`${other.client.client_id}:${secret}`).toString('base64')}`;
        const answers = [
          await postForm(url, { token: access_token }),
          await postForm(url, { token: access_token, client_id: '' }),
          await postForm(url, { token: access_token, client_id: 'nobody' }),
          await postForm(url, { token: access_token, client_id: other.client.client_id }),
          await postForm(url, { token: access_token, client_id: other.client.client_id, client_secret: 'wrong' }),
          await postForm(url, { token: access_token }, { authorization: basic('wrong') }),
          await postForm(url, { token: access_token }, { authorization: `Bearer ${access_token}` }),
        ];
        for (const answer of answers) {
          expect(answer.status).toBe(401);
          expect(answer.headers.get('cache-control')).toBe('no-store');
          expect(await answer.json()).toEqual({ error: 'invalid_client', error_description: expect.any(String) });
        }
        expect(await statusOf(world.origin, access_token)).toBe(200);
        const right = await postForm(
          url,
          { token: access_token },
          { authorization: basic(other.client.client_secret) },
        );
        expect(right.status).toBe(200);
      },
    );

    it.each(['revocation_endpoint', 'introspection_endpoint'] as const)(
      '%s accepts only a form by POST',
      async (endpoint) => {
        const { access_token } = await start();
        const url = String(app.server[endpoint]);
        const fields = { token: access_token, client_id: app.client.client_id };
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const answer = await fetch(`${url}?${new URLSearchParams(fields)}`, { method });
          expect(answer.status).toBe(405);
          expect(answer.headers.get('allow')).toBe('POST');
          expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
        }
        const headers = { 'content-type': 'application/json' };
        const refused = [
          await read(await fetch(url, { method: 'POST', headers, body: JSON.stringify(fields) })),
          await read(await postForm(url, { client_id: app.client.client_id })),
          await read(await postForm(`${url}?token=${access_token}`, { client_id: app.client.client_id })),
          await read(
            await fetch(url, {
              method: 'POST',
              body: new URLSearchParams([...Object.entries(fields), ['token', 'x']]),
            }),
          ),
        ];
        for (const { status, body } of refused) {
          expect({ status, body }).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
        }
        expect(await statusOf(world.origin, access_token)).toBe(200);
      },
    );
  },
);
