import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { type App, registerApp, revoke } from '../support/app.ts';
import { approved, refreshForm, token } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

type Line = Record<string, string>;

/** What comes before a token, which is told by tests of its own. */
const BEFORE = new Set(['client_registered', 'signed_in', 'consent_given']);

describe('the log of what happens to tokens', () => {
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

  /** The events since it was asked last. */
  const events = (): Line[] => {
    const all = readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => line['event.action'] !== undefined && !BEFORE.has(line['event.action']));
    const fresh = all.slice(seen);
    seen = all.length;
    return fresh;
  };
  const event = (action: string, kind = 'event') => ({
    level: kind === 'alert' ? 40 : 30,
    'event.kind': kind,
    'event.action': action,
    'event.outcome': kind === 'alert' ? 'failure' : 'success',
    'oauth.client_id': app.client.client_id,
    'oauth.grant_id': expect.stringMatching(/^[\w-]{43}$/),
    'user.id': 'm-1001',
    'source.address': expect.stringMatching(/127\.0\.0\.1$|^::1$/),
    'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
  });

  it('has one line for each token set, refresh, repeated answer, revocation and reuse, all of one connection', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    await token(app, form);
    const { body: second, headers } = await token(app, refreshForm(app, first.refresh_token));
    await token(app, refreshForm(app, first.refresh_token));
    await token(app, refreshForm(app, second.refresh_token));
    const lines = events();
    expect(lines).toMatchObject(
      ['token_issued', 'token_answer_replayed', 'token_refreshed', 'token_answer_replayed', 'token_refreshed'].map(
        (of) => event(of),
      ),
    );
    expect(new Set(lines.map((line) => line['oauth.grant_id'])).size).toBe(1);
    expect(lines[2]?.['http.request.id']).toBe(headers.get('x-request-id'));

    expect((await token(app, refreshForm(app, first.refresh_token))).status).toBe(400);
    expect(events()).toMatchObject([event('refresh_token_reuse', 'alert')]);
  });

  it('names the reuse of a code', async () => {
    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    await token(app, refreshForm(app, first.refresh_token));
    events();
    expect((await token(app, form)).status).toBe(400);
    expect(events()).toMatchObject([event('code_reuse', 'alert')]);
    // The connection has ended; there is nothing more to tell.
    expect((await token(app, form)).status).toBe(400);
    expect(events()).toEqual([]);
  });

  it('names a revocation that ended something, and is silent of one that did not, and of what was refused', async () => {
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
