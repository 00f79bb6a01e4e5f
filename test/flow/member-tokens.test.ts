import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const KEY = 'the-key-that-mints-tokens';

/** A backend that takes its own tokens, and issues one to any client with the key. */
describe('a token issued by the backend for each member', () => {
  let backend: RecordingUpstream;
  let world: World;
  let sam: string;
  let olu: string;
  let now = Date.UTC(2026, 5, 1);
  let minted = 0;
  const good = new Map<string, string>();
  let refuses = false;
  let minting: 'well' | 'ill' | 'forbidden' | 'empty' | 'several' | Promise<void> = 'well';
  beforeAll(async () => {
    backend = await startRecordingUpstream(async (request, response, recorded) => {
      await recorded.whole;
      const answer = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const [, minter] = /^\/internal\/tokens\/([^?]*)/.exec(request.url ?? '') ?? [];
      if (minter !== undefined) {
        if (minting instanceof Promise) await minting;
        if (minting === 'ill') return void answer(500, {});
        if (minting === 'empty') return void answer(200, { access: [] });
        if (minting === 'several') return void answer(200, { access: [{ token: 'tok-of-another' }, { token: 'tok' }] });
        if (minting === 'forbidden' || request.headers['x-gate-key'] !== KEY) return void answer(403, {});
        minted += 1;
        const token = `tok-${minter}-${minted}`;
        good.set(token, minter);
        return void answer(201, { access: [{ token }], expires_in: 600 });
      }
      const member = refuses ? undefined : good.get(String(request.headers['x-school-token']).replace(/^Token /, ''));
      answer(member === undefined ? 401 : 200, { member, body: recorded.body.toString() });
    });
    world = await startWorld({
      profile: 'A',
      clock: () => now,
      schoolClock: () => now,
      environment: { MINT_KEY: KEY },
      overrides: {
        upstreams: {
          tokens: { url: backend.url, breaker: { failures: 0 } },
          api: {
            url: backend.url,
            credential: {
              kind: 'token',
              mint: {
                upstream: 'tokens',
                path: '/internal/tokens/{member.id}',
                body: { user: '{member.id}', for: 'app' },
                key: { header: 'X-Gate-Key', secret: { env: 'MINT_KEY' } },
              },
              token: '/access/0/token',
              lifetime: '1h',
              header: 'X-School-Token',
              scheme: 'Token',
            },
          },
        },
        tokens: { access: '12h' },
        routes: [
          { match: '* /api/own/**', upstream: 'api', anonymous: 'refuse' },
          { match: 'GET /api/open/**', upstream: 'api', anonymous: 'serve' },
        ],
      },
    });
    const app = await registerApp(world.origin);
    sam = (await connect(app)).access_token;
    olu = (await connect(app, { member: OLU })).access_token;
  });
  afterAll(async () => {
    await world.close();
    await backend.close();
  });
  beforeEach(() => {
    minting = 'well';
    refuses = false;
    now += 700_000;
    good.clear();
  });

  const ask = (token: string | undefined, init: RequestInit = {}, path = '/api/own/x') =>
    fetch(world.origin + path, {
      ...init,
      headers: { ...(token === undefined ? {} : bearer(token)), ...init.headers },
    });
  const sent = () => backend.requests.filter(({ target }) => !target.startsWith('/internal'));
  const mints = () => backend.requests.filter(({ target }) => target.startsWith('/internal'));

  it('is issued once for many requests, separately for each member', async () => {
    const before = mints().length;
    let go = () => {};
    minting = new Promise((resolve) => {
      go = resolve;
    });
    const under = Promise.all(Array.from({ length: 8 }, () => ask(sam)));
    await expect.poll(() => mints().length).toBe(before + 1);
    go();
    const answers = await Promise.all((await under).map(async (one) => (await one.json()).member));
    expect(answers).toEqual(Array.from({ length: 8 }, () => 'm-1001'));
    minting = 'well';
    expect((await (await ask(olu)).json()).member).toBe('m-1002');
    expect(mints().length).toBe(before + 2);
    const [mint] = mints().slice(-1);
    expect(mint?.target).toBe('/internal/tokens/m-1002');
    expect(mint?.body.toString()).toBe('{"user":"m-1002","for":"app"}');
    expect(mint?.values('x-member-id')).toEqual([]);
    expect(mint?.values('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(sent().at(-1)?.values('x-school-token')).toEqual([expect.stringMatching(/^Token tok-m-1002-\d+$/)]);
    expect(sent().at(-1)?.values('x-gate-key')).toEqual([]);
  });

  it('is renewed when it expires, at the time that the response states', async () => {
    await (await ask(sam)).text();
    const before = mints().length;
    now += 590_000;
    await (await ask(sam)).text();
    expect(mints().length).toBe(before);
    now += 6000;
    await (await ask(sam)).text();
    expect(mints().length).toBe(before + 1);
  });

  it.each([
    ['without a body', undefined],
    ['with one', '{"n":1}'],
  ])('is renewed once when the backend refuses it, for a request %s', async (_which, body) => {
    await (await ask(sam)).text();
    good.clear();
    const before = mints().length;
    const init = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    const answer = await ask(sam, init);
    expect([answer.status, await answer.json()]).toEqual([200, { member: 'm-1001', body: body ?? '' }]);
    expect(mints().length).toBe(before + 1);
  });

  it('is not renewed again when the new one is refused too: the app gets 403 without a challenge', async () => {
    await (await ask(sam)).text();
    refuses = true;
    const before = { mints: mints().length, sent: sent().length };
    const answer = await ask(sam);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([403, null]);
    expect(mints().length - before.mints).toBe(1);
    expect(sent().length - before.sent).toBe(2);
  });

  it.each([
    ['ill', 503],
    ['forbidden', 502],
    ['empty', 502],
    ['several', 502],
  ] as const)('whose minting is %s makes the request fail with %s, and nothing is sent', async (how, status) => {
    minting = how;
    const before = sent().length;
    const answer = await ask(sam);
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toContain('tok-');
    expect(sent().length).toBe(before);
    minting = 'well';
    expect((await ask(sam)).status).toBe(200);
  });

  it('is not issued without a member, and not accepted from an app', async () => {
    await ask(sam);
    const [token] = good.keys();
    const forged = { 'x-school-token': `Token ${token}`, 'X-School_Token': `Token ${token}`, 'x-gate-key': KEY };
    expect((await ask(undefined, { headers: forged }, '/api/open/x')).status).toBe(403);
    expect(sent().at(-1)?.rawHeaders.join('\n')).not.toMatch(/tok-|the-key/i);
    expect((await (await ask(olu, { headers: forged })).json()).member).toBe('m-1002');
    expect(sent().at(-1)?.rawHeaders.join('\n')).not.toContain('tok-m-1001');
  });
});
