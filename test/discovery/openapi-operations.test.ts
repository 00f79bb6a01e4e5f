import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { SCOPES } from '../support/catalogue.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { type Called, describedApi, type Operation, type Sent } from './support/described-api.ts';

describe.each([{ profile: 'A' }, { profile: 'B' }])(
  'the operations of /openapi.json in Profile $profile',
  ({ profile }) => {
    let world: World;
    let api: ReturnType<typeof describedApi>;
    let all: string;
    let little: string;

    const tokens = async (scope: string) => {
      const app = await registerApp(world.origin);
      const request = await authorizationRequest(app, { scope });
      return { app, tokens: await redeem(app, request, await approve(request.url, app.redirectUri)) };
    };

    beforeAll(async () => {
      world = await startWorld({ profile });
      api = describedApi((await (await fetch(`${world.origin}/openapi.json`)).json()) as Record<string, unknown>);
      all = (await tokens(SCOPES.join(' '))).tokens.access_token;
      little = (await tokens('profile')).tokens.access_token;
    });
    afterAll(() => world.close());

    const bodyOf = (operation: Operation): Sent => (operation.hasBody ? { json: operation.example ?? {} } : {});
    const each = async (chosen: (operation: Operation) => boolean, sent: (operation: Operation) => Sent) => {
      const found = api.operations.filter(chosen);
      const answers: (Called & { readonly operation: Operation })[] = [];
      for (const operation of found) answers.push({ operation, ...(await api.call(operation, sent(operation))) });
      expect(answers.flatMap(({ flaws }) => flaws)).toEqual([]);
      return answers;
    };
    const byToken = ({ schemes }: Operation) => schemes.includes('oauth2');

    it('include every operation of the contract', () => {
      expect(api.operations.map(({ method, path }) => `${method} ${path}`)).toEqual(
        expect.arrayContaining([
          'GET /.well-known/oauth-protected-resource',
          'GET /.well-known/oauth-authorization-server',
          'GET /.well-known/openid-configuration',
          'GET /oauth/authorize',
          'POST /api/oauth/token',
          'GET /api/oauth/userinfo',
          'POST /api/oauth/revoke',
          'POST /api/oauth/register',
          'POST /mcp',
          'POST /mcp/member',
          'GET /openapi.json',
          'GET /auth.md',
          'GET /api/v1/courses',
          'GET /api/v1/courses/{rest}',
          'PATCH /api/v1/pages/{rest}',
        ]),
      );
      expect(api.operations.some(({ path }) => path === '/account/graphql')).toBe(profile === 'A');
      expect(api.operations.length).toBeGreaterThan(100);
    });

    it('respond as described without a token: 401 unless they are public', async () => {
      const answers = await each(byToken, bodyOf);
      expect(answers.length).toBeGreaterThan(80);
      for (const { operation, status } of answers) {
        expect({ id: operation.id, refused: status === 401 }).toEqual({ id: operation.id, refused: !operation.open });
      }
      expect(answers.some(({ operation }) => operation.open && operation.tag === 'courses')).toBe(profile === 'B');
    });

    it('respond as described with an unknown token: 401', async () => {
      const answers = await each(byToken, (operation) => ({ ...bodyOf(operation), token: 'no-token-of-ours' }));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    });

    it('respond as described with a token that lacks their scopes: 403', async () => {
      const needy = (operation: Operation) => byToken(operation) && (operation.scopes ?? []).length > 0;
      const answers = await each(needy, (operation) => ({ ...bodyOf(operation), token: little }));
      expect(answers.length).toBeGreaterThan(80);
      for (const { operation, status, headers, body } of answers) {
        const { id, scopes = [] } = operation;
        expect({ id, status }).toEqual({ id, status: 403 });
        expect(body).toEqual({ error: 'insufficient_scope', error_description: expect.any(String) });
        const offered = /scope="([^"]*)"/.exec(headers.get('www-authenticate') ?? '')?.[1]?.split(' ') ?? [];
        expect({ id, offered }).toEqual({ id, offered: expect.arrayContaining([...scopes]) });
      }
    });

    it('respond as described with a token that has their scopes: no challenge', async () => {
      const answers = await each(byToken, (operation) => ({ ...bodyOf(operation), token: all }));
      const refused = answers.filter(({ status, headers }) => status === 401 || headers.has('www-authenticate'));
      expect(refused.map(({ operation, status }) => `${operation.id} ${status}`)).toEqual([]);
      const read = answers.filter(({ operation, status }) => operation.method === 'GET' && status === 200);
      expect(read.length).toBeGreaterThan(20);
    });

    it('respond as described whatever is sent, if they need no token', async () => {
      const open = ({ scopes }: Operation) => scopes === undefined;
      for (const sent of [{}, { form: { client_id: 'nobody' } }, { json: '{' }] as Sent[]) {
        await each(open, ({ method }) => (method === 'GET' ? {} : sent));
      }
    });

    it('complete the whole job of an app, each with a response as described', async () => {
      const named = (id: string): Operation => {
        const found = api.operations.find((operation) => operation.id === id);
        if (found === undefined) throw new Error(`there is no ${id}`);
        return found;
      };
      const done = async (id: string, status: number, sent: Sent = {}) => {
        const called = await api.call(named(id), sent);
        expect({ id, status: called.status, flaws: called.flaws }).toEqual({ id, status, flaws: [] });
        return called.body as Record<string, string>;
      };
      for (const id of ['authorizationServerMetadata', 'openidConfiguration', 'protectedResourceMetadata', 'jwks']) {
        await done(id, 200);
      }
      await done('openapi', 200);
      await done('authMd', 200);

      const redirectUri = 'https://app.example/callback';
      const metadata = { client_name: 'Described App', redirect_uris: [redirectUri] };
      const client = await done('registerClient', 201, { json: metadata });
      const mine = { path: { client_id: String(client.client_id) }, token: String(client.registration_access_token) };
      await done('readClient', 200, mine);
      const changed = await done('updateClient', 200, { ...mine, json: { ...metadata, client_id: client.client_id } });
      await done('updateClient', 401, { ...mine, json: metadata });

      const client_id = String(client.client_id);
      const app = { ...(await registerApp(world.origin)), client: { client_id }, redirectUri };
      const request = await authorizationRequest(app, { scope: 'openid email account:read courses:read' });
      const query = Object.fromEntries(new URL(request.url).searchParams);
      const pushed = await done('pushAuthorizationRequest', 201, { form: query });
      await done('authorize', 303, { query: { client_id, request_uri: String(pushed.request_uri) } });
      await done('authorize', 303, { query });
      await done('authorize', 400, { query: {} });

      const returned = await approve(request.url, redirectUri);
      const resource = world.origin;
      const code = String(returned.searchParams.get('code'));
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id, resource };
      const first = await done('issueToken', 200, { form: { ...form, code_verifier: request.verifier } });
      await done('issueToken', 400, { form: { ...form, code: 'none', code_verifier: request.verifier } });
      const again = { grant_type: 'refresh_token', refresh_token: String(first.refresh_token), client_id };
      const second = await done('issueToken', 200, { form: again });
      const token = String(second.access_token);

      await done('introspectToken', 200, { form: { token, client_id } });
      await done('userinfo', 200, { token });
      await done('userinfoByPost', 200, { token });
      await done('getApiV1Courses', 200, { token });
      for (const id of ['callTools', 'callToolsAsMember']) {
        await done(id, 200, { token, json: named(id).example });
        await done(id, 202, { token, json: { jsonrpc: '2.0', method: 'notifications/initialized' } });
        await done(id, 400, { token, json: '{' });
      }
      if (profile === 'A') {
        await done('queryAccount', 200, { token, json: named('queryAccount').example });
        await done('queryAccount', 400, { token, json: {} });
        await done('queryAccount', 415, { token, form: { query: '{ viewer { id } }' } });
        const write = 'mutation { cancelEventRegistration(id: "none") { registration { id } } }';
        await done('queryAccount', 403, { token, json: { query: write } });
      }

      await done('revokeToken', 200, { form: { token, client_id } });
      await done('userinfo', 401, { token });
      await done('deleteClient', 204, { path: mine.path, token: String(changed.registration_access_token) });
    });
  },
);
