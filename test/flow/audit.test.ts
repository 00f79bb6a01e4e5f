import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { gateProcess } from '../faults/gate-process.ts';
import { type App, authorizationRequest, bearer, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approved, connect, refreshForm, statusOf, token } from '../support/connection.ts';
import { reachConsent } from '../support/member.ts';
import { otherKey } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

type Line = Record<string, string>;

const OF_TOKENS = /^(token_|code_re|refresh_token_reuse)/;

describe('the audit log of tokens', () => {
  let folder: string;
  let world: World;
  let app: App;
  let seen = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-audit-'));
    world = await startWorld({ profile: 'A', log: createLog('info', openSync(join(folder, 'log'), 'w')) });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  /** The events since the last call. */
  const events = (): Line[] => {
    const all = readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => OF_TOKENS.test(line['event.action'] ?? ''));
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh;
  };
  const event = (action: string, kind = 'event', outcome = kind === 'alert' ? 'failure' : 'success') => ({
    level: kind === 'alert' ? 40 : 30,
    'event.kind': kind,
    'event.action': action,
    'event.outcome': outcome,
    'oauth.client_id': app.client.client_id,
    'oauth.grant_id': expect.stringMatching(/^[0-9a-f]{32}$/),
    'user.id': 'm-1001',
    'source.address': expect.stringMatching(/127\.0\.0\.1$|^::1$/),
    'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
  });

  it('has one line for each token set, refresh, repeat, revocation and reuse, all with the same grant', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    await token(app, form);
    const { body: second, headers } = await token(app, refreshForm(app, first.refresh_token));
    await token(app, refreshForm(app, first.refresh_token));
    await token(app, refreshForm(app, second.refresh_token));
    const lines = events();
    expect(lines).toMatchObject([
      event('token_issued'),
      event('code_repeated', 'event', 'failure'),
      ...['token_refreshed', 'token_answer_replayed', 'token_refreshed'].map((of) => event(of)),
    ]);
    expect(new Set(lines.map((line) => line['oauth.grant_id'])).size).toBe(1);
    expect(lines[2]?.['http.request.id']).toBe(headers.get('x-request-id'));

    expect((await token(app, refreshForm(app, first.refresh_token))).status).toBe(400);
    expect(events()).toMatchObject([event('refresh_token_reuse', 'alert')]);
  });

  it('logs the reuse of a code', async () => {
    const { form } = await approved(app);
    await token(app, form);
    events();
    expect((await token(app, form, await otherKey(app))).status).toBe(400);
    expect(events()).toMatchObject([event('code_reuse', 'alert')]);
    // The connection has already ended, so there is nothing more to log.
    expect((await token(app, form)).status).toBe(400);
    expect(events()).toEqual([]);
  });

  it('logs a revocation that ended something, but not one that did not or was refused', async () => {
    const { form } = await approved(app);
    await token(app, { ...form, code_verifier: 'a'.repeat(43) });
    const { body } = await token(app, form);
    events();
    await revoke(app, body.access_token);
    await revoke(app, body.refresh_token);
    await token(app, refreshForm(app, body.refresh_token));
    expect(events()).toMatchObject([event('token_revoked')]);
  });
});

describe('the audit log', () => {
  let folder: string;
  let world: World;
  let seen = 0;
  const START = Date.UTC(2026, 0, 1);
  let now = START;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-audit-'));
    world = await startWorld({
      profile: 'A',
      clock: () => now,
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
      environment: { COMMAND_SECRET },
      overrides: {
        admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
        limits: {
          member: { requests: 30, per: '1m' },
          address: 'unlimited',
          client: 'unlimited',
          attempts: 'unlimited',
        },
      },
    });
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });
  // A new minute, so that no limit is in effect.
  beforeEach(() => {
    now += 120_000;
    written();
  });

  const text = () => readFileSync(join(folder, 'log'), 'utf8');
  /** What was written since the last call. */
  const written = (): Line[] => {
    const all = text()
      .split('\n')
      .filter((line) => line.includes('"event.action"'))
      .map((line) => JSON.parse(line) as Line);
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh;
  };
  const actions = () => written().map((line) => line['event.action']);

  it('logs the registration and deletion of a client', async () => {
    const { client } = await registerApp(world.origin, { redirectUri: 'https://chat.example/cb' });
    const [line, ...others] = written();
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      'event.action': 'client_registered',
      'event.outcome': 'success',
      'oauth.client_id': client.client_id,
      'oauth.client_host': 'chat.example',
      'source.address': expect.stringMatching(/127\.0\.0\.1$|^::1$/),
      'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    const headers = { authorization: `Bearer ${client.registration_access_token}` };
    const gone = await fetch(String(client.registration_client_uri), { method: 'DELETE', headers });
    expect([gone.status, actions()]).toEqual([204, ['client_deleted']]);
  });

  it('logs who signed in for which app, and who approved or denied it', async () => {
    const app = await registerApp(world.origin);
    const ids = { 'user.id': 'm-1001', 'oauth.client_id': app.client.client_id };
    await approved(app);
    expect(written().slice(1)).toMatchObject([
      { 'event.action': 'signed_in', ...ids },
      { 'event.action': 'consent_given', ...ids, 'oauth.grant_id': expect.stringMatching(/^[0-9a-f]{32}$/) },
      { 'event.action': 'code_issued', ...ids, 'oauth.grant_id': expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);

    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    await browser.submit(page, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));
    expect(written()).toMatchObject([
      { 'event.action': 'signed_in', ...ids },
      { 'event.action': 'consent_denied', ...ids },
    ]);

    const stranger = createBrowser();
    const login = await stranger.open((await authorizationRequest(app)).url);
    await stranger.open(world.origin + new URL(login.url).searchParams.get('return_to'));
    expect(written()).toMatchObject([
      {
        'event.action': 'sign_in_failed',
        'event.outcome': 'failure',
        'event.reason': 'not_signed_in',
        'oauth.client_id': app.client.client_id,
      },
    ]);
  });

  it('logs who ended which grants and why, and refused sign-ins that follow from it', async () => {
    const app = await registerApp(world.origin);
    const tokens = await connect(app);
    const { client_id } = app.client;
    await approved(app);
    written();
    await command(world.admin, '/members/m-1001/suspend', {
      body: '{"by":"operator","reason":"refund"}',
      time: Math.floor(now / 1000),
    });
    const decided = { 'user.id': 'm-1001', 'coursegate.by': 'operator', 'event.reason': 'refund' };
    const grant = { 'event.action': 'grant_ended', 'oauth.client_id': client_id, ...decided };
    const lines = written();
    expect(lines.slice(-3)).toMatchObject([
      grant,
      grant,
      { 'event.action': 'member_suspended', 'oauth.grants_ended': lines.length - 1, ...decided },
    ]);
    expect(new Set(lines.map((line) => line['http.request.id'])).size).toBe(1);

    await reachConsent((await authorizationRequest(app)).url);
    expect(written()).toMatchObject([{ 'event.action': 'sign_in_failed', 'event.reason': 'suspended' }]);
    await command(world.admin, '/members/m-1001/resume', { time: Math.floor(now / 1000) });
    expect(written()).toMatchObject([{ 'event.action': 'member_resumed', 'coursegate.by': 'backend' }]);
    for (const verb of ['members/m-1001', `clients/${client_id}`]) {
      await command(world.admin, `/${verb}/revoke`, { time: Math.floor(now / 1000) });
    }
    expect(actions()).toEqual(['member_revoked', 'client_revoked']);
    await command(world.admin, '/members/m-1001/revoke', { secret: 'wrong', time: Math.floor(now / 1000) });
    expect(written()).toMatchObject([{ level: 40, 'event.kind': 'alert', 'event.action': 'command_refused' }]);
    for (const secret of [tokens.access_token, String(tokens.refresh_token), COMMAND_SECRET]) {
      expect(text()).not.toContain(secret);
    }
  });

  it('logs which app called which mutation for which member, also when it was refused', async () => {
    const app = await registerApp(world.origin);
    const mutate = async (scope: string) => {
      const { access_token } = await connect(app, { parameters: { scope } });
      written();
      const query =
        'mutation { a: cancelEventRegistration(id: "none") { __typename } ...more } fragment more on Mutation { b: cancelEventRegistration(id: "none") { __typename } }';
      const answer = await fetch(`${world.origin}/account/graphql`, {
        method: 'POST',
        headers: { ...bearer(access_token), 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      await answer.text();
      return written();
    };
    const ids = {
      'event.action': 'mutation_called',
      'event.outcome': 'failure',
      'graphql.mutation': 'cancelEventRegistration',
      'user.id': 'm-1001',
      'oauth.client_id': app.client.client_id,
      'oauth.grant_id': expect.stringMatching(/^[0-9a-f]{32}$/),
    };
    expect(await mutate('openid account:read')).toMatchObject([{ ...ids, 'event.reason': 'insufficient_scope' }]);
    expect(await mutate('openid account:read account:write')).toMatchObject([ids]);
  });

  it('logs a reached limit once, however often it is hit', async () => {
    const { access_token } = await connect(await registerApp(world.origin));
    const run = async () => {
      for (let at = 0; at < 40; at += 1) await statusOf(world.origin, access_token);
      return written().filter((line) => line['event.action'] === 'limit_tripped');
    };
    const once = { 'event.outcome': 'failure', 'coursegate.limit': 'member', 'user.id': 'm-1001' };
    expect(await run()).toMatchObject([once]);
    now += 61_000;
    expect(await run()).toMatchObject([once]);
  });
});

describe('the audit log of a gate that is killed right after it responded', () => {
  it('contains the event that it responded to', async () => {
    const gate = await gateProcess({
      environment: {
        COURSEGATE__LOG__LEVEL: 'info',
        COMMAND_SECRET,
        COURSEGATE__ADMIN__HMAC__SECRET: '{ env: COMMAND_SECRET }',
      },
    });
    try {
      await gate.start();
      const app = await registerApp(gate.origin);
      for (const act of [
        () => connect(app).then(() => 'token_issued'),
        () => command(gate.admin, '/members/m-1001/revoke').then(() => 'member_revoked'),
        () => registerApp(gate.origin).then(() => 'client_registered'),
      ]) {
        const action = await act();
        await gate.kill();
        // What was in the pipe when the process died can still be read.
        expect(gate.lastLog()).toContain(`"event.action":"${action}"`);
        await gate.start();
      }
    } finally {
      await gate.close();
    }
  });
});
