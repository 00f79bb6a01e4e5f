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
  ])('is worth nothing to another $kind app, and keeps its worth for its own', async ({ confidential }) => {
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

  it('works once; a second time ends everything that came of the first', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    const { body: renewed } = await token(app, refreshForm(app, first.refresh_token));
    for (const { access_token } of [first, renewed]) expect(await statusOf(world.origin, access_token)).toBe(200);

    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });

    for (const { access_token } of [first, renewed]) expect(await statusOf(world.origin, access_token)).toBe(401);
    expect((await token(app, refreshForm(app, renewed.refresh_token))).body.error).toBe('invalid_grant');
  });

  it('tried a second time by somebody without the verifier ends nothing', async () => {
    const { form } = await approved(app);
    const { body } = await token(app, form);
    const again = await token(app, { ...form, code_verifier: 'a'.repeat(43) });
    expect(again).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, body.access_token)).toBe(200);
  });

  it('is still good after 59 seconds, and no longer after 61', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const early = await approved(app);
    vi.setSystemTime(Date.now() + 59_000);
    expect((await token(app, early.form)).status).toBe(200);
    const late = await approved(app);
    vi.setSystemTime(Date.now() + 61_000);
    expect(await token(app, late.form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('takes any spelling of the resource', async () => {
    const { form } = await approved(app, { parameters: { resource: `${world.origin}/` } });
    const answer = await token(app, { ...form, resource: world.origin.toUpperCase() });
    expect(answer.status).toBe(200);
    expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
  });

  it.runIf(profile === 'B')('needs no resource, and binds to the origin all the same', async () => {
    const { form } = await approved(app, { parameters: { resource: undefined } });
    const answer = await token(app, { ...form, resource: undefined });
    expect(answer.status).toBe(200);
    expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
  });

  it('redeemed twenty times at once gives tokens once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { form } = await approved(app);
      const answers = await Promise.all(Array.from({ length: 20 }, () => token(app, form)));
      const refused = answers.filter(({ status }) => status === 400);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(refused.map(({ body }) => body.error)).toEqual(Array(19).fill('invalid_grant'));
    }
  });

  it('of an app without the refresh grant gives no refresh token', async () => {
    const modest = await registerApp(world.origin, { metadata: { grant_types: ['authorization_code'] } });
    const { form } = await approved(modest);
    const { status, body } = await token(modest, form);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('refresh_token');
  });

  it('without openid gives no ID token', async () => {
    const { form } = await approved(app, { parameters: { scope: 'courses:read' } });
    const { status, body } = await token(app, form);
    expect(status).toBe(200);
    expect(body.scope).toBe('courses:read');
    expect(body).not.toHaveProperty('id_token');
  });
});
