import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, registerApp, revoke } from '../support/app.ts';
import { approved, connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { otherKey } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

const UNKNOWN_CODE = 'the code is not known here: it was mistyped, used, or has expired';
const UNKNOWN_TOKEN = 'the refresh token is not known here: it was mistyped, revoked, or has expired';

describe('the token endpoint, for an invalid', () => {
  let world: World;
  let app: App;
  let stranger: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', clock: () => Date.now() });
    app = await registerApp(world.origin);
    stranger = await registerApp(world.origin);
  });
  afterAll(() => world.close());
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = async () => (await connect(app)) as unknown as Tokens;
  const refused = async (form: Record<string, string | undefined>) => {
    const { status, body } = await token(app, form);
    expect(status).toBe(400);
    return body;
  };
  const invalidGrant = (error_description: string) => ({ error: 'invalid_grant', error_description });

  it('code, explains the reason to the app’s developer', async () => {
    const { form } = await approved(app);
    expect(await refused({ ...form, code: 'unknown' })).toEqual(invalidGrant(UNKNOWN_CODE));
    expect(await refused({ ...form, redirect_uri: 'https://app.example/other' })).toEqual(
      invalidGrant('redirect_uri is not the one of the authorization request'),
    );
    expect(await refused({ ...form, code_verifier: 'a'.repeat(43) })).toEqual(
      invalidGrant('code_verifier does not match the code_challenge of the authorization request (S256)'),
    );
    expect(await refused({ ...form, code_verifier: undefined })).toEqual(
      invalidGrant('code_verifier is missing: the authorization request had a code_challenge made with S256'),
    );
    expect((await token(app, form)).status).toBe(200);
    expect(await refused(form)).toEqual(
      invalidGrant('the code was redeemed before, by the same request: if you lost its response, authorize again'),
    );
    // After the seconds in which a repeat ends nothing.
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 11_000);
    expect(await refused(form)).toEqual(invalidGrant('the code was used before; what was issued for it is revoked'));
  });

  it('code that has expired, gives the same error as for an unknown one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { form } = await approved(app);
    vi.setSystemTime(Date.now() + 61_000);
    expect(await refused(form)).toEqual(invalidGrant(UNKNOWN_CODE));
  });

  it('refresh token, explains the reason to the app’s developer', async () => {
    const first = await start();
    expect(await refused(refreshForm(app, 'unknown'))).toEqual(invalidGrant(UNKNOWN_TOKEN));
    await token(app, refreshForm(app, first.refresh_token));
    // After the seconds in which a lost response is repeated.
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 61_000);
    expect(await refused(refreshForm(app, first.refresh_token))).toEqual(
      invalidGrant('the refresh token was used before; the connection is revoked, the member must approve again'),
    );
    const second = await start();
    await revoke(app, second.refresh_token);
    expect(await refused(refreshForm(app, second.refresh_token))).toEqual(invalidGrant(UNKNOWN_TOKEN));
  });

  it.each([
    { other: 'DPoP key', confidential: true },
    { other: 'scope', confidential: false },
  ])(
    'refresh token sent again with another $other, says so, and later that it was used',
    async ({ other, confidential }) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const owner = await registerApp(world.origin, { confidential });
      const { refresh_token } = (await connect(owner)) as unknown as Tokens;
      const again = async (scope?: string) => {
        const headers = other === 'DPoP key' ? await otherKey(owner) : {};
        return token(
          owner,
          refreshForm(owner, refresh_token, { scope: other === 'scope' ? scope : undefined }),
          headers,
        );
      };
      expect((await again()).status).toBe(200);
      vi.setSystemTime(Date.now() + 5_000);
      expect((await again('openid')).body).toEqual(
        invalidGrant(
          'the refresh token was used before with another scope, resource or DPoP key: use the one that replaced it',
        ),
      );
      vi.setSystemTime(Date.now() + 6_000);
      expect((await again('openid')).body).toEqual(
        invalidGrant('the refresh token was used before; the connection is revoked, the member must approve again'),
      );
    },
  );

  it('code or refresh token of another app, gives the same error as for an unknown one', async () => {
    const { form } = await approved(app);
    const { refresh_token } = await start();
    const by = { client_id: stranger.client.client_id };
    expect(await refused({ ...form, ...by })).toEqual(await refused({ ...form, ...by, code: 'unknown' }));
    expect(await refused(refreshForm(stranger, refresh_token))).toEqual(
      await refused(refreshForm(stranger, 'unknown')),
    );
  });

  it.each<[string, string, (good: { code: string; refresh: string }) => Record<string, string>]>([
    ['refresh token as a code', 'invalid_grant', ({ refresh }) => ({ code: refresh })],
    ['code with an extra byte', 'invalid_grant', ({ code }) => ({ code: `${code}x` })],
    ['code with a byte missing', 'invalid_grant', ({ code }) => ({ code: code.slice(0, -1) })],
    ['verifier with an invalid character', 'invalid_request', () => ({ code_verifier: `${'a'.repeat(42)}!` })],
    ['field of an array', 'invalid_request', () => ({ code: '', 'code[]': 'x' })],
    [
      'field of every object',
      'invalid_request',
      () => ({ code: '', '__proto__[code]': 'x', 'constructor[prototype][code]': 'x' }),
    ],
    ['empty grant type', 'invalid_request', () => ({ grant_type: '' })],
  ])('%s, returns %s', async (_name, error, change) => {
    const { form } = await approved(app);
    const { refresh_token } = await start();
    expect((await refused({ ...form, ...change({ code: form.code ?? '', refresh: refresh_token }) })).error).toBe(
      error,
    );
    expect(({} as { code?: string }).code).toBeUndefined();
    expect((await token(app, form)).status).toBe(200);
  });

  it('grant that the app did not register for, returns unauthorized_client (RFC 6749 section 5.2)', async () => {
    const modest = await registerApp(world.origin, { metadata: { grant_types: ['authorization_code'] } });
    expect((await refused(refreshForm(modest, 'x'))).error).toBe('unauthorized_client');
  });

  it('request, responds in JSON even if the client prefers HTML', async () => {
    const { form } = await approved(app);
    const { status, headers, body } = await token(app, { ...form, code: 'x' }, { accept: 'text/html' });
    expect({ status, type: headers.get('content-type') }).toEqual({
      status: 400,
      type: 'application/json; charset=utf-8',
    });
    expect(body).toEqual(invalidGrant(UNKNOWN_CODE));
    // An empty secret counts as none: libraries send the field for public apps.
    expect((await token(app, { ...form, client_secret: '' })).status).toBe(200);
  });

  it('charset, reads the body as UTF-8', async () => {
    // The body is read as UTF-8 whatever charset is named.
    for (const charset of ['utf-16', 'nonsense']) {
      const type = { 'content-type': `application/x-www-form-urlencoded; charset=${charset}` };
      expect((await token(app, (await approved(app)).form, type)).status).toBe(200);
    }
  });
});
