import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, registerApp } from '../support/app.ts';
import { approved, refreshForm, statusOf, token } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each([{ profile: 'A' }, { profile: 'B' }])('an authorization code in Profile $profile', ({ profile }) => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile, clock: () => Date.now() });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    { kind: 'public', confidential: false },
    { kind: 'confidential', confidential: true },
  ])('is refused from another $kind app, and stays valid for its own', async ({ confidential }) => {
    const thief = await registerApp(world.origin, { confidential });
    const { form } = await approved(app);
    const stolen = {
      ...form,
      client_id: thief.client.client_id,
      ...(confidential ? { client_secret: String(thief.client.client_secret) } : {}),
    };
    expect(await token(thief, stolen)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await token(app, form)).status).toBe(200);
  });

  it('is refused when it is sent again: without effect for ten seconds, then it ends the connection', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { form } = await approved(app);
    const { status, body: first } = await token(app, form);
    expect(status).toBe(200);
    for (const seconds of [0, 9]) {
      vi.setSystemTime(Date.now() + seconds * 1000);
      const again = await token(app, form);
      expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(again.body).not.toHaveProperty('access_token');
      expect(again.headers.get('cache-control')).toBe('no-store');
      expect(await statusOf(world.origin, first.access_token)).toBe(200);
    }
    vi.setSystemTime(Date.now() + 1_000);
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await token(app, refreshForm(app, first.refresh_token))).body.error).toBe('invalid_grant');
    expect(await statusOf(world.origin, first.access_token)).toBe(401);
  });

  it('redeemed at its last moment is still recognised after it has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { form } = await approved(app);
    vi.setSystemTime(Date.now() + 59_000);
    const { body: first } = await token(app, form);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
    vi.setSystemTime(Date.now() + 5_000);
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, first.access_token)).toBe(401);
  });

  it('of an app without refresh tokens works only once, too', async () => {
    const modest = await registerApp(world.origin, { metadata: { grant_types: ['authorization_code'] } });
    const { form } = await approved(modest);
    const { body: first } = await token(modest, form);
    expect(await token(modest, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
  });

  it.runIf(profile === 'B')('sent again with different parameters ends the connection at once', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    expect(await token(app, { ...form, resource: undefined })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await statusOf(world.origin, first.access_token)).toBe(401);
  });

  it('sent again after ten seconds ends everything issued for it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    const { body: renewed } = await token(app, refreshForm(app, first.refresh_token));
    const issued = [first, renewed];
    for (const [seconds, status] of [
      [5, 200],
      [6, 401],
    ] as const) {
      vi.setSystemTime(Date.now() + seconds * 1000);
      expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      for (const { access_token } of issued) expect(await statusOf(world.origin, access_token)).toBe(status);
    }
    expect((await token(app, refreshForm(app, renewed.refresh_token))).body.error).toBe('invalid_grant');
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['another verifier', { code_verifier: 'a'.repeat(43) }],
    ['no verifier', { code_verifier: undefined }],
    ['another redirect_uri', { redirect_uri: 'https://app.example/other' }],
  ])('sent again with %s reveals nothing and ends nothing', async (_name, other) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { form } = await approved(app);
    const { body } = await token(app, form);
    const thief = await registerApp(world.origin);
    for (const seconds of [0, 11]) {
      vi.setSystemTime(Date.now() + seconds * 1000);
      const again = await token(app, { ...form, ...other });
      expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(again.body).not.toHaveProperty('access_token');
      const stolen = await token(thief, { ...form, client_id: thief.client.client_id });
      expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(await statusOf(world.origin, body.access_token)).toBe(200);
    }
  });

  it('is valid for 59 seconds, and no longer after 61', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const early = await approved(app);
    vi.setSystemTime(Date.now() + 59_000);
    expect((await token(app, early.form)).status).toBe(200);
    const late = await approved(app);
    vi.setSystemTime(Date.now() + 61_000);
    expect(await token(app, late.form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('accepts any spelling of the resource', async () => {
    const { form } = await approved(app, { parameters: { resource: `${world.origin}/` } });
    const answer = await token(app, { ...form, resource: world.origin.toUpperCase() });
    expect(answer.status).toBe(200);
    expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
  });

  it.runIf(profile === 'B')('needs no resource, and is bound to the origin anyway', async () => {
    const { form } = await approved(app, { parameters: { resource: undefined } });
    const answer = await token(app, { ...form, resource: undefined });
    expect(answer.status).toBe(200);
    expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
  });

  it('redeemed twenty times at once gives one set of tokens, which stays valid', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { form } = await approved(app);
      const answers = await Promise.all(Array.from({ length: 20 }, () => token(app, form)));
      const [given, ...others] = answers.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      const refused = answers.filter(({ status }) => status === 400);
      expect(refused.map(({ body }) => body.error)).toEqual(Array(19).fill('invalid_grant'));
      expect(await statusOf(world.origin, String(given?.body.access_token))).toBe(200);
      expect((await token(app, refreshForm(app, given?.body.refresh_token))).status).toBe(200);
    }
  });

  it('of an app without the refresh grant yields no refresh token', async () => {
    const modest = await registerApp(world.origin, { metadata: { grant_types: ['authorization_code'] } });
    const { form } = await approved(modest);
    const { status, body } = await token(modest, form);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('refresh_token');
  });

  it('without openid yields no ID token', async () => {
    const { form } = await approved(app, { parameters: { scope: 'courses:read' } });
    const { status, body } = await token(app, form);
    expect(status).toBe(200);
    expect(body.scope).toBe('courses:read');
    expect(body).not.toHaveProperty('id_token');
  });
});

describe('with no replay window, an authorization code', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: { tokens: { replayWindow: '0s' } } });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  it('sent a second time ends everything issued for it', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, first.access_token)).toBe(401);
    expect((await token(app, refreshForm(app, first.refresh_token))).body.error).toBe('invalid_grant');
  });

  it('redeemed twenty times at once gives one set of tokens', async () => {
    const { form } = await approved(app);
    const answers = await Promise.all(Array.from({ length: 20 }, () => token(app, form)));
    const refused = answers.filter(({ status }) => status === 400);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(refused.map(({ body }) => body.error)).toEqual(Array(19).fill('invalid_grant'));
  });
});
