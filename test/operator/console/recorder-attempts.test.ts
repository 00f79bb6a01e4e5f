import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { shownParameters } from '../../../src/authorization-server/connection-steps.ts';
import { type App, authorizationRequest, bearer, introspect, refresh, registerApp, revoke } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { command } from '../../support/commands.ts';
import { type Approved, approved, connect, refreshForm, token } from '../../support/connection.ts';
import { approve, OLU, reachConsent, SAM, signIn } from '../../support/member.ts';
import { startWorld, type World } from '../../support/world.ts';
import { openConsole, startConsoleWorld } from './support/console.ts';

const listen = { trustedProxies: ['loopback'] };
const admin = { hmac: { secret: { env: 'COMMAND_SECRET' } } };

const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);

/** The rows of the list: app, state and cause of each attempt, the newest first. */
async function rows(world: World, query = ''): Promise<readonly string[]> {
  const { text } = await (await openConsole(world)).get(`/console/connections${query}`);
  const body = /<tbody>([\s\S]*)<\/tbody>/.exec(text)?.[1] ?? '';
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = '']) => plain(row));
}

/** The page of the newest attempt. */
async function newest(world: World): Promise<string> {
  const session = await openConsole(world);
  const { text } = await session.get('/console/connections');
  const path = /href="(\/console\/connections\/[^"?]+)"/.exec(text)?.[1] ?? '';
  return (await session.get(path)).text;
}

const plain = (page: string) =>
  page
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

const use = async (world: World, accessToken: string, path = '/api/v1/whoami') =>
  (await fetch(world.origin + path, { headers: bearer(accessToken) })).status;

describe.each(['A', 'B'])('connections that succeed, in Profile %s', (profile) => {
  let world: World;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    world = await startConsoleWorld({ profile, overrides: { listen, admin } });
  });
  beforeEach(() => pass(7200));
  afterAll(async () => {
    await world.close();
    vi.useRealTimers();
  });

  it('have no cause, from the first request to the disconnection by the app', async () => {
    const app = await registerApp(world.origin, { metadata: { client_name: 'Study Buddy' } });
    const tokens = await connect(app);
    expect(await use(world, tokens.access_token)).toBe(200);
    expect(await rows(world)).toEqual([expect.stringContaining('Study Buddy connected Sam Student m-1001')]);
    await introspect(app, tokens.access_token);
    pass(1000);
    expect(await use(world, tokens.access_token)).toBe(401);
    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(await use(world, renewed.access_token)).toBe(200);
    pass(300);
    expect(await rows(world)).toEqual([expect.stringContaining('Study Buddy connected Sam Student m-1001')]);
    await revoke(app, String(renewed.refresh_token));
    expect(await use(world, renewed.access_token)).toBe(401);
    pass(3600);
    expect(await rows(world)).toEqual([expect.stringContaining('Study Buddy disconnected Sam Student m-1001')]);
  });

  it('have no cause when an app works with fewer scopes, refreshes without a resource, or repeats a request', async () => {
    const app = await registerApp(world.origin, { metadata: { client_name: 'Modest' } });
    const tokens = await connect(app, { ticked: ['account:read'] });
    expect(await use(world, tokens.access_token)).toBe(200);
    expect(await use(world, tokens.access_token, '/api/v1/courses')).toBe(403);
    const form = refreshForm(app, tokens.refresh_token, { resource: undefined });
    expect((await token(app, form)).status).toBe(200);
    expect((await token(app, form)).status).toBe(200);
    pass(3600);
    expect((await rows(world))[0]).toContain('Modest connected Sam Student m-1001');
  });

  it('have no cause when the first thing that an app asks for is not there', async () => {
    const app = await registerApp(world.origin, { metadata: { client_name: 'Curious' } });
    const tokens = await connect(app);
    expect(await use(world, tokens.access_token, '/api/v1/courses/none')).toBe(404);
    pass(3600);
    expect((await rows(world))[0]).toContain('Curious connected Sam Student m-1001');
  });

  it('have no cause when the backend or an operator ends them', async () => {
    const app = await registerApp(world.origin, { metadata: { client_name: 'Cut off' } });
    const tokens = await connect(app);
    expect(await use(world, tokens.access_token)).toBe(200);
    await command(world.admin, '/members/m-1001/revoke', { body: '{"by":"operator"}' });
    expect(await use(world, tokens.access_token)).toBe(401);
    pass(3600);
    expect((await rows(world)).find((row) => row.includes('Cut off'))).toContain(
      'Cut off disconnected Sam Student m-1001',
    );
  });
});

describe('attempts', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    world = await startConsoleWorld({ overrides: { listen, admin } });
  });
  beforeEach(async () => {
    pass(90_000);
    app = await registerApp(world.origin, { metadata: { client_name: 'Study Buddy' } });
  });
  afterAll(async () => {
    await world.close();
    vi.useRealTimers();
  });

  it('are in progress while the consent page is open, and abandoned 15 minutes later', async () => {
    await reachConsent((await authorizationRequest(app)).url);
    pass(14 * 60);
    expect(await rows(world)).toEqual([expect.stringMatching(/^Study Buddy in progress Consent Sam Student m-1001/)]);
    pass(2 * 60);
    expect(await rows(world)).toEqual([
      expect.stringMatching(/^Study Buddy stopped The member did not decide on the consent page/),
    ]);
  });

  it('are told apart by member when many members connect one app at a time', async () => {
    const requests = [await authorizationRequest(app), await authorizationRequest(app)] as const;
    const [first, second] = [createBrowser(), createBrowser()];
    const open = await reachConsent(requests[0].url, SAM, first);
    await approve(requests[1].url, app.redirectUri, { member: OLU, browser: second });
    await first.submit(open.page, { decision: 'deny' }, (to) => to.startsWith(world.origin));
    pass(600);
    const shown = await rows(world, '?state=stopped');
    expect(shown.filter((row) => row.includes('The member pressed Cancel Sam Student m-1001'))).toHaveLength(1);
    expect(shown.filter((row) => row.includes('never redeemed it Olu'))).toHaveLength(1);
    expect(shown).toHaveLength(2);
  });

  it('are on the pages of the member and the app, with the cause and what to do', async () => {
    const { form } = await approved(app);
    await token(app, { ...form, code_verifier: 'w'.repeat(43) });
    const session = await openConsole(world);
    const page = async (path: string) => plain((await session.get(path)).text);
    const of = `/console/apps/${encodeURIComponent(app.client.client_id)}`;
    for (const [path, whose] of [
      ['/console/members/m-1001', 'app Study Buddy'],
      [of, 'member Sam Student'],
    ] as const) {
      expect(await page(path)).toMatch(
        /Attempts to connect \d+ \w+ 20\d\d, \d\d:\d\d \w+ \(just now\) stopped The code_verifier does not match/,
      );
      expect(await page(path)).toContain(`${whose} You can: Connect again with one window of the app open.`);
    }
    expect(await page('/console/members/m-1001')).toMatch(/Study Buddy [^.]*never fetched its token/);
    const { text: grants } = await session.get('/console/grants?member=m-1001&unused=never');
    expect(grants).toContain('never fetched its token');
    const [grant = ''] = /\/console\/grants\/[^"/?]+(?=")/.exec(grants) ?? [];
    expect(await page(grant)).toContain('never fetched its token');
    expect(await page('/console/members/m-1002')).toContain('Attempts to connect None in the last 24 hours.');
    await connect(app, { member: OLU });
    expect(await page(of)).toMatch(/in progress At “Token request” member Olu/);
  });

  it('are filtered by member, app, cause and time', async () => {
    const other = await registerApp(world.origin, { metadata: { client_name: 'Quiz Helper' } });
    await reachConsent((await authorizationRequest(app)).url);
    pass(1);
    await reachConsent((await authorizationRequest(other)).url, OLU);
    pass(16 * 60);
    await createBrowser().open((await authorizationRequest(app, { scope: 'teleport' })).url);
    const names = async (query: string) =>
      (await rows(world, query)).map((row) => /^(.*?) (?:stopped|in progress)/.exec(row)?.[1]);
    expect(await names('?member=sam')).toEqual(['Study Buddy']);
    expect(await names('?member=m-1002')).toEqual(['Quiz Helper']);
    expect(await names('?member=m-100')).toEqual(['Quiz Helper', 'Study Buddy']);
    expect(await names('?member=STUDENT@example')).toEqual(['Study Buddy']);
    expect(await names('?app=quiz')).toEqual(['Quiz Helper']);
    expect(await names(`?app=${encodeURIComponent(other.client.client_id)}`)).toEqual(['Quiz Helper']);
    expect(await names('?cause=scope-unknown')).toEqual(['Study Buddy']);
    expect(await names('?within=quarter')).toEqual(['Study Buddy']);
    expect(await names('?within=hour')).toHaveLength(3);
    const minute = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString().slice(0, 16);
    expect(await names(`?from=${minute(-17 * 60)}&to=${minute(-15 * 60)}`)).toEqual(['Quiz Helper', 'Study Buddy']);
    expect(await names(`?from=${minute(-60)}`)).toEqual(['Study Buddy']);
    const session = await openConsole(world);
    const { text } = await session.get('/console/connections?cause=scope-unknown');
    expect(text).toContain('value="scope-unknown" selected>The app asks for a scope that does not exist here (1)');
    expect(text).toContain('value="abandoned-consent">The member did not decide on the consent page (2)');
    for (const query of ['from=yesterday', 'to=2026-13-01T00:00', 'within=ever'])
      expect((await session.get(`/console/connections?${query}`)).status).toBe(400);
  });

  it('of coursegate doctor are one line, and no app’s', async () => {
    const agent = (userAgent: string) => ({ 'user-agent': userAgent, 'x-forwarded-for': '198.51.100.9' });
    for (const name of ['first', 'second'])
      await fetch(`${world.origin}/api/v1/whoami`, { headers: agent(`coursegate-doctor/1.0 (${name})`) });
    pass(700);
    const shown = plain((await (await openConsole(world)).get('/console/connections')).text);
    expect(shown).toMatch(/2 attempts of coursegate doctor, the last 11 minutes ago ?: Show/);
    expect(shown).not.toContain('Unknown app (coursegate-doctor)');
    const all = await rows(world, '?doctor=shown&state=stopped');
    expect(all.filter((row) => row.startsWith('Unknown app (coursegate-doctor) stopped'))).toHaveLength(2);
    const stopped = (await rows(world, '?state=stopped')).length;
    const first = plain((await (await openConsole(world)).get('/console')).text);
    expect(first).toContain(`All that stopped (${stopped})`);
    expect(first).not.toContain('coursegate-doctor');
  });

  it('of no known app are named by what sent them', async () => {
    const linux = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)';
    for (const userAgent of [
      `${linux} HeadlessChrome/156.0.0.0 Safari/537.36`,
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0',
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)',
      'python-httpx/0.28.1',
      `${'x'.repeat(50)}/1`,
      '(none)',
    ])
      await fetch(`${world.origin}/api/v1/whoami`, { headers: { 'user-agent': userAgent } });
    expect((await rows(world)).map((row) => row.split(' in progress')[0]).toSorted()).toEqual([
      'Study Buddy',
      'Unknown app',
      'Unknown app (ChatGPT-User)',
      'Unknown app (Chrome on Linux)',
      'Unknown app (Edge on Android)',
      'Unknown app (Safari on iPhone)',
      'Unknown app (python-httpx)',
      `Unknown app (${'x'.repeat(40)})`,
    ]);
  });

  it('contain no code, token, verifier, state, secret or password, and the text for the developer no member', async () => {
    const secret = await registerApp(world.origin, { confidential: true, metadata: { client_name: 'Confidential' } });
    const redirected = { redirect_uri: secret.redirectUri, login_hint: 'someone@example.com' };
    const { form, request }: Approved = await approved(secret, { parameters: redirected });
    const { body } = await token(secret, form);
    await use(world, body.access_token);
    await token(secret, refreshForm(secret, body.refresh_token));
    const page = await newest(world);
    expect(plain(page)).toContain('Token request ok');
    const secrets = [
      form.code,
      form.code_verifier,
      form.client_secret,
      request.state,
      body.access_token,
      body.refresh_token,
    ];
    for (const value of [...secrets, SAM.password, 'someone@example.com']) expect(page).not.toContain(value);
    expect(page).toContain('<dt>token_endpoint_auth_method</dt><dd>client_secret_post</dd>');
    const text = /<pre[^>]*>([\s\S]*?)<\/pre>/.exec(page)?.[1] ?? '';
    expect(text).toContain('Attempt of Confidential to connect to');
    for (const value of ['m-1001', SAM.login, '127.0.0.1', 'Sam']) expect(text).not.toContain(value);
  });

  it('contain what explains a refusal, and of what is secret only that it was sent', () => {
    const explains = {
      ...{ response_type: 'code', response_mode: 'query', scope: 'openid', prompt: 'login', grant_type: 'x' },
      ...{ code_challenge_method: 'plain', client_assertion_type: 'jwt' },
    };
    const secret = [
      ...['state', 'code_challenge', 'code_verifier', 'client_secret', 'request', 'request_uri', 'access_token'],
    ];
    const sent = new URLSearchParams({
      ...{ ...explains, ...Object.fromEntries(secret.map((name) => [name, 'hidden'])) },
      ...{ resource: 'r'.repeat(299), redirect_uri: 'https://me:hidden@app.example/cb?x=hidden#hidden' },
      ...{ login_hint: 'hidden', nonce: 'hidden', code: 'hidden', refresh_token: 'hidden', id_token_hint: 'hidden' },
    });
    sent.append('resource', 'another');
    expect(shownParameters(sent)).toEqual({
      ...explains,
      ...Object.fromEntries(secret.map((name) => [name, 'sent'])),
      ...{ resource: `${'r'.repeat(299)} `, redirect_uri: 'https://app.example/cb?…' },
    });
    const empty = [...Object.keys(explains), ...secret, 'resource', 'redirect_uri'].map((name) => [name, '']);
    expect(shownParameters(new URLSearchParams(Object.fromEntries(empty)))).toEqual({});
  });

  it('are joined across a restart', async () => {
    const { form } = await approved(app);
    await world.restart();
    pass(1);
    const { body } = await token(app, form);
    expect(await use(world, body.access_token)).toBe(200);
    const shown = await rows(world);
    expect(shown).toEqual([expect.stringContaining('Study Buddy connected Sam Student m-1001')]);
    expect(plain(await newest(world))).toMatch(/Registration ok.*Consent approved.*Token request ok.*Token used ok/);
  });

  it('survive a flood from one address or many, and are forgotten after 24 hours', async () => {
    await reachConsent((await authorizationRequest(app)).url);
    const ask = async (userAgent: string, address: string) => {
      const headers = { 'user-agent': userAgent, 'x-forwarded-for': address };
      await (await fetch(`${world.origin}/api/v1/whoami`, { headers })).arrayBuffer();
    };
    const flood = async (address: (index: number) => string) => {
      for (let from = 0; from < 400; from += 50)
        await Promise.all(Array.from({ length: 50 }, (_none, at) => ask(`bot ${from + at}`, address(from + at))));
    };
    await flood(() => '198.51.100.7');
    await ask('lonely', '198.51.100.8');
    expect(await rows(world, '?app=bot')).toHaveLength(60);
    expect(await rows(world, '?app=lonely')).toHaveLength(1);
    await flood((index) => `10.0.${index >> 8}.${index & 255}`);
    expect(plain((await (await openConsole(world)).get('/console/connections')).text)).toMatch(
      /3\d\d attempts, of which the newest 200 are shown: filter for the others/,
    );
    expect(await rows(world, '?app=study')).toHaveLength(1);
    pass(86_401);
    expect(await rows(world)).toEqual([]);
  });

  it('are shown on the first page when they stopped', async () => {
    await (await fetch(`${world.origin}/api/v1/whoami`, { headers: { 'user-agent': 'bot' } })).arrayBuffer();
    pass(601);
    await createBrowser().open((await authorizationRequest(app, { scope: 'teleport' })).url);
    const { text } = await (await openConsole(world)).get('/console');
    expect(plain(text)).toContain('Study Buddy stopped The app asks for a scope that does not exist');
    expect(plain(text)).toContain('All that stopped (2) 1 of them named no app.');
  });
});

describe('what a stranger sends', () => {
  let world: World;
  beforeAll(async () => {
    world = await startConsoleWorld({ profile: 'A', overrides: { listen, admin } });
  });
  afterAll(() => world.close());

  const register = async (userAgent: string, name: string) => {
    const answer = await fetch(`${world.origin}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': userAgent },
      body: JSON.stringify({ client_name: name, redirect_uris: ['https://app.example/callback'] }),
    });
    return answer.status;
  };

  it.each([
    ['U+202E', 'safe \u202eevil'],
    ['ESC', 'Cl\u001b[2Jaude'],
    ['C1', 'Cl\u009b2Jaude'],
    ['5,000 letters', 'x'.repeat(5000)],
  ])('as a name that is refused, with %s, is shown nowhere, and replaces no name', async (what, name) => {
    expect(await register(`agent ${what}`, `Claude ${what}`)).toBe(201);
    expect(await register(`agent ${what}`, name)).toBe(400);
    expect((await rows(world))[0]).toContain(`Claude ${what} `);
    const page = await newest(world);
    expect(page).not.toContain('xxxx');
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(page).not.toMatch(/evil|2Jaude/);
  });

  it('as a good name with a refused redirect URI replaces no name that was registered', async () => {
    expect(await register('another agent', 'Claude')).toBe(201);
    const answer = await fetch(`${world.origin}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'another agent' },
      body: JSON.stringify({ client_name: 'Claude by the School', redirect_uris: ['http://evil.example/cb'] }),
    });
    expect(answer.status).toBe(400);
    expect((await rows(world))[0]).toContain('Claude stopped');
  });

  it('as client_id, parameters and User-Agent has nothing invisible on the page of an attempt', async () => {
    const parameters = {
      client_id: 'id\u202e\u001b[2J',
      redirect_uri: 'https://a.example/\u202ebc',
      scope: 'x\u200by',
    };
    const url = `${world.origin}/oauth/authorize?${new URLSearchParams({ ...parameters, response_type: 'to\u0085ken' })}`;
    await (await fetch(url, { headers: { 'user-agent': 'agent \u009b2J', accept: 'text/html' } })).text();
    const page = await newest(world);
    expect(page).toContain('id\uFFFD\uFFFD[2J');
    expect(page).toContain('https://a.example/\uFFFDbc');
    expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('a connection whose member approves single calls', () => {
  let world: World;
  afterEach(() => world.close());

  it('has what became of each call as a step, and stays connected', async () => {
    const held = { match: 'POST /held', upstream: 'school', scopes: ['account:read'], approve: true };
    world = await startConsoleWorld({ profile: 'A', overrides: { listen, admin, routes: [held] } });
    const { access_token: token } = await connect(await registerApp(world.origin));
    expect(await use(world, token)).toBe(200);
    const sam = createBrowser();
    await signIn(sam, world.origin, SAM);
    const send = async (note: string) => {
      const headers = { ...bearer(token), 'content-type': 'text/plain' };
      return fetch(`${world.origin}/held`, { method: 'POST', headers, body: note });
    };
    for (const [note, decision] of [
      ['one', 'approve'],
      ['two', 'deny'],
    ] as const) {
      const { approval } = (await (await send(note)).json()) as { approval: { url: string } };
      await sam.submit(await sam.open(approval.url), { decision });
      await send(note);
    }
    const page = plain(await newest(world));
    for (const outcome of ['the member is asked', 'approved', 'call made', 'declined by the member'])
      expect(page).toContain(`Approval of a call ${outcome}`);
    expect((await rows(world))[0]).toContain(' connected ');
  });
});

describe('a gate without an admin secret', () => {
  let world: World;
  afterEach(() => world.close());

  it('records nothing', async () => {
    const environment = { COMMAND_SECRET: 'a-secret-that-backend-and-gate-share' };
    world = await startWorld({ profile: 'A', environment, overrides: { listen } });
    const app = await registerApp(world.origin, { metadata: { client_name: 'Unseen' } });
    await connect(app);
    await world.reload({ listen, admin });
    expect(await rows(world)).toEqual([]);
    await registerApp(world.origin, { metadata: { client_name: 'Seen' } });
    expect(await rows(world)).toEqual([expect.stringContaining('Seen in progress')]);
  });
});
