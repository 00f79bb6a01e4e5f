import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../../support/world.ts';
import { CALLBACK, call, MANY, register } from './support.ts';

describe('client metadata', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: MANY });
  });
  afterAll(() => world.close());

  const send = (raw: string | Buffer, type?: string) =>
    call(world, 'POST', '/api/oauth/register', { raw, ...(type === undefined ? {} : { type }) });

  it.each([
    ['Study Buddy', 'Study Buddy'],
    ['Zoe\u0308 ☃', 'Zoë ☃'],
    ['学习助手', '学习助手'],
    ['⚡\uFE0F Fast', '⚡\uFE0F Fast'],
    ['<script>alert(1)</script> {{7*7}} \x24{7*7}', '<script>alert(1)</script> {{7*7}} \x24{7*7}'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['𝒳'.repeat(64), '𝒳'.repeat(64)],
    ['e\u0301'.repeat(64), 'é'.repeat(64)],
  ])('accepts the name %j', async (name, told) => {
    expect(await register(world, { client_name: name })).toMatchObject({ status: 201, body: { client_name: told } });
  });

  it.each<[string, unknown]>([
    ['65 characters', 'x'.repeat(65)],
    ['10,000 characters', 'x'.repeat(10_000)],
    ['a line feed', 'Study\nBuddy'],
    ['NUL', 'Study\u0000Buddy'],
    ['a C1 control', 'Study\u0085Buddy'],
    ['a right-to-left override', 'Study\u202EyddB'],
    ['an isolate', 'Study\u2066Buddy'],
    ['an Arabic letter mark', 'Study\u061CBuddy'],
    ['a zero-width space', 'Study\u200BBuddy'],
    ['a zero-width joiner', 'Study\u200DBuddy'],
    ['a word joiner', 'Study\u2060Buddy'],
    ['a byte order mark', '\uFEFFStudy Buddy'],
    ['a soft hyphen', 'Study\u00ADBuddy'],
    ['a Hangul filler', 'Study\u3164Buddy'],
    ['a tag character', 'Study\u{E0041}Buddy'],
    ['a line separator', 'Study\u2028Buddy'],
    ['a private-use character', 'Study\uE000Buddy'],
    ['a lone surrogate', 'Study\uD800Buddy'],
    ['piled accents', `Z${'\u0335\u0336'.repeat(8)}`],
    ['blanks', '   '],
    ['other kinds of whitespace', '\u00A0\u2003\u2800'],
    ['an object', { en: 'Study Buddy' }],
    ['a list', ['Study Buddy']],
    ['a number', 5],
    ['true', true],
  ])('refuses a name: %s', async (_name, name) => {
    const { status, body } = await register(world, { client_name: name });
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'invalid_client_metadata', error_description: expect.stringMatching(/^client_name: must /) },
    });
  });

  describe.each(['client_uri', 'logo_uri', 'tos_uri', 'policy_uri'])('%s', (member) => {
    it('is accepted and returned', async () => {
      const uri = 'https://app.example/a?b=%C3%A9#c';
      expect(await register(world, { [member]: uri })).toMatchObject({ status: 201, body: { [member]: uri } });
    });

    it.each<[string, unknown]>([
      ['a script', 'javascript:alert(1)'],
      ['data', 'data:image/png;base64,AAAA'],
      ['http', 'http://app.example/logo.png'],
      ['an internal address', 'http://169.254.169.254/latest/meta-data'],
      ['an invalid URL', 'nope'],
      ['user information', 'https://a:b@app.example/'],
      ['a space', 'https://app.example/a b'],
      ['a right-to-left override', 'https://app.example/\u202Egnp.x'],
      ['5,000 characters', `https://app.example/${'x'.repeat(5000)}`],
      ['a list', ['https://app.example/']],
    ])('refuses %s', async (_name, uri) => {
      const { status, body } = await register(world, { [member]: uri });
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_client_metadata' });
      expect(body.error_description).toMatch(new RegExp(`^${member}: must `));
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['private_key_jwt', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://app.example/jwks' }],
    ['client_secret_jwt', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['tls_client_auth', { token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject_dn: 'CN=x' }],
    ['an unknown method', { token_endpoint_auth_method: 'x' }],
    ['methods as a list', { token_endpoint_auth_method: ['none'] }],
    ['the implicit grant alone', { grant_types: ['implicit'] }],
    ['the password grant alone', { grant_types: ['password'] }],
    ['client credentials alone', { grant_types: ['client_credentials'] }],
    ['the device grant alone', { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] }],
    ['grants as a string', { grant_types: 'authorization_code' }],
    ['the implicit response type alone', { response_types: ['token'] }],
    ['jwks and jwks_uri together', { jwks: { keys: [] }, jwks_uri: 'https://app.example/jwks' }],
    ['invalid contacts', { contacts: ['not a mailbox'] }],
    ['a software_id as object', { software_id: { x: 'y'.repeat(8000) } }],
    ['a software_version of 200 characters', { software_version: 'x'.repeat(200) }],
  ])('refuses %s', async (_name, metadata) => {
    const { status, body } = await register(world, metadata);
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_client_metadata' });
    expect(String(body.error_description).length).toBeGreaterThan(10);
  });

  it('replaces client_secret_basic, the RFC’s default, with client_secret_post, and says so (RFC 7591 section 3.2.1)', async () => {
    const { status, body } = await register(world, { token_endpoint_auth_method: 'client_secret_basic' });
    expect(status).toBe(201);
    expect(body.token_endpoint_auth_method).toBe('client_secret_post');
    expect(body.client_secret).toMatch(/^[\w-]{40,}$/);
  });

  it('returns the app’s own software_id and software_version', async () => {
    const software = { software_id: '4NRB1-0XZABZI9E6-5SM3R', software_version: '2.4' };
    const { body } = await register(world, software);
    expect(body).toMatchObject(software);
    const path = new URL(String(body.registration_client_uri)).pathname;
    const read = await call(world, 'GET', path, { token: String(body.registration_access_token) });
    expect(read.body).toMatchObject(software);
  });

  it('keeps every member that is used', async () => {
    const used = {
      ...{ client_name: 'Used', client_uri: 'https://app.example/', logo_uri: 'https://app.example/logo.png' },
      ...{ tos_uri: 'https://app.example/terms', policy_uri: 'https://app.example/privacy' },
      ...{ contacts: ['dev@app.example'], response_modes: ['query'], software_id: 'x', software_version: '1' },
      ...{ default_max_age: 600, require_auth_time: true, dpop_bound_access_tokens: true },
      ...{ require_pushed_authorization_requests: true },
    };
    expect(await register(world, used)).toMatchObject({ status: 201, body: used });
  });

  it('drops members that are not used, and fetches nothing', async () => {
    const asked: string[] = [];
    const sink: Server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    const there = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
    const dropped = {
      jwks_uri: `${there}/jwks`,
      sector_identifier_uri: `${there}/sector`,
      request_uris: [`${there}/request`],
      initiate_login_uri: `${there}/login`,
      backchannel_logout_uri: `${there}/logout`,
      backchannel_client_notification_endpoint: `${there}/ping`,
      backchannel_token_delivery_mode: 'ping',
      frontchannel_logout_uri: `${there}/front`,
      post_logout_redirect_uris: [`${there}/after`],
      software_statement: 'eyJhbGciOiJub25lIn0.eyJjbGllbnRfbmFtZSI6IkFkbWluIn0.',
      subject_type: 'pairwise',
      id_token_signed_response_alg: 'none',
      userinfo_signed_response_alg: 'ES384',
      request_object_signing_alg: 'none',
      token_endpoint_auth_signing_alg: 'HS256',
      tls_client_certificate_bound_access_tokens: true,
      default_acr_values: ['x'],
      foo: { bar: 'x'.repeat(8000) },
      'client_name#de': 'Lernfreund',
      constructor: 'x',
      toString: 'x',
    };
    const { status, body } = await register(world, dropped);
    await call(world, 'GET', `/oauth/authorize?client_id=${body.client_id}&response_type=code`);
    await new Promise((resolve) => sink.close(resolve));
    expect(status).toBe(201);
    expect(asked).toEqual([]);
    const told = { subject_type: 'public', id_token_signed_response_alg: 'RS256', post_logout_redirect_uris: [] };
    for (const [name, value] of Object.entries(dropped)) {
      expect([undefined, told[name as keyof typeof told]], name).toContainEqual(
        Object.hasOwn(body, name) ? body[name] : undefined,
      );
      expect(JSON.stringify(body)).not.toContain(there);
      if (typeof value === 'string' && value.length > 6) expect(JSON.stringify(body)).not.toContain(value);
    }
  });

  it('ignores an ID, a secret and tokens that the app sends', async () => {
    const chosen = {
      client_id: 'chosen-by-me',
      client_secret: 'chosen-by-me',
      client_id_issued_at: 1,
      client_secret_expires_at: 1,
      registration_access_token: 'chosen-by-me',
      registration_client_uri: 'https://evil.test/chosen-by-me',
      token_endpoint_auth_method: 'client_secret_post',
    };
    const { status, body } = await register(world, chosen);
    expect(status).toBe(201);
    expect(JSON.stringify(body)).not.toContain('chosen-by-me');
    expect(body).toMatchObject({ client_secret_expires_at: 0, client_id_issued_at: expect.any(Number) });
    expect(body.client_id_issued_at).toBeGreaterThan(1_000_000_000);
    const reached = await call(world, 'GET', '/api/oauth/register/chosen-by-me', { token: 'chosen-by-me' });
    expect(reached.status).toBe(401);
  });

  it('assigns a hundred equal registrations a hundred IDs', async () => {
    const ids = new Set<unknown>();
    for (let count = 0; count < 100; count += 1)
      ids.add((await register(world, { client_name: 'Same' })).body.client_id);
    expect(ids.size).toBe(100);
  });

  const good = `"redirect_uris":["${CALLBACK}"]`;
  it.each<[string, string | Buffer, string, number]>([
    ['a list', '[]', 'application/json', 400],
    ['a string', '"x"', 'application/json', 400],
    ['null', 'null', 'application/json', 400],
    ['a truncated object', '{', 'application/json', 400],
    ['nothing', '', 'application/json', 400],
    ['__proto__', `{${good},"__proto__":{"client_name":"x"}}`, 'application/json', 400],
    ['an escaped __proto__', `{${good},"\\u005f_proto__":{}}`, 'application/json', 400],
    ['a repeated member', `{${good},"redirect_uris":["https://evil.test/"]}`, 'application/json', 400],
    ['a repeated member, once escaped', `{${good},"redirect_\\u0075ris":[]}`, 'application/json', 400],
    ['a repeated member in a nested object', `{${good},"x":{"a":1,"a":2}}`, 'application/json', 400],
    ['a depth of 7,000', `{${good},"x":${'['.repeat(7000)}${']'.repeat(7000)}}`, 'application/json', 400],
    ['bytes that are not UTF-8', Buffer.from(`{${good},"client_name":"\xff"}`, 'latin1'), 'application/json', 400],
    ['a form', `redirect_uris=${CALLBACK}`, 'application/x-www-form-urlencoded', 400],
    ['JSON as text/plain', `{${good}}`, 'text/plain', 400],
    ['more than 16 KiB', `{${good},"x":"${'x'.repeat(16 * 1024)}"}`, 'application/json', 413],
  ])('refuses a body: %s', async (_name, body, type, status) => {
    const answer = await send(body, type);
    expect(answer.status).toBe(status);
    const description =
      type === 'application/json' ? expect.stringMatching(/^.{10,}$/) : 'the body must be application/json';
    expect(answer.body).toEqual({ error: 'invalid_request', error_description: description });
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect((await register(world, {})).status).toBe(201);
  });

  it('accepts structure characters inside strings', async () => {
    const odd = `{${good},"client_name":"{\\"a\\":1,\\"a\\":2} [[[[[[[[[[","x":{"a":{"a":1}},"y":["a","a"]}`;
    expect(await send(odd)).toMatchObject({ status: 201, body: { client_name: '{"a":1,"a":2} [[[[[[[[[[' } });
  });
});
