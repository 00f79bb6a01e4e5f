import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../../src/operations/log.ts';
import { startSignIn } from '../login/support/sign-in.ts';
import { call } from '../mcp/support/mcp.ts';
import { openConsole } from '../operator/console/support/console.ts';
import { authorizationRequest, bearer, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approved, connect, refreshForm, statusOf, token } from '../support/connection.ts';
import { connectWith } from '../support/cookie-school.ts';
import { reachConsent, signIn } from '../support/member.ts';
import { otherKey } from '../support/proof.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld } from '../support/world.ts';

type Line = Readonly<Record<string, unknown>>;

const ID = expect.stringMatching(/^[0-9a-f]{32}$/);
/** The thumbprint of a key (RFC 7638). */
const KEY_ID = expect.stringMatching(/^[\w-]{43}$/);
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const DURATION = expect.any(Number);

/** The fields of every line, and those of every line that a request caused. */
const ALWAYS = {
  level: 30,
  msg: 'audit',
  '@timestamp': TIME,
  'event.kind': 'event',
  'event.outcome': 'success',
};
const REQUEST = {
  'source.address': '127.0.0.1',
  'source.ip': '127.0.0.1',
  'user_agent.original': 'story/1.0',
  'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
  'trace.id': expect.stringMatching(/^[\da-f]{32}$/),
};
const ALERT = { level: 40, 'event.kind': 'alert', 'event.outcome': 'failure' };
const FAILED = { 'event.outcome': 'failure' };
/** The fields of an app: its ID and name as registered, and the host that its request redirects to. */
const APP = { 'oauth.client_id': ID, 'oauth.client_name': 'Story App', 'oauth.client_host': 'app.example' };
const SAM = { 'user.id': 'm-1001' };
const GRANT = { 'oauth.grant_id': ID };
const COMMAND = {
  'source.address': expect.stringMatching(/127\.0\.0\.1$/),
  'source.ip': expect.stringMatching(/127\.0\.0\.1$/),
  'http.request.id': expect.stringMatching(/^[\da-f-]{36}$/),
  'coursegate.by': 'operator',
  'event.reason': 'refund',
};

const kind = (category: string[], type: string[]) => ({ 'event.category': category, 'event.type': type });

/** By action: exactly the fields of its first line. */
const EVENTS: Readonly<Record<string, Line>> = {
  client_registered: { ...kind(['iam'], ['creation']), ...APP, ...REQUEST },
  client_updated: { ...kind(['iam'], ['change']), ...APP, ...REQUEST },
  client_deleted: { ...kind(['iam'], ['deletion']), ...APP, ...REQUEST },
  signed_in: { ...kind(['authentication'], ['start']), ...APP, ...SAM, ...REQUEST },
  sign_in_failed: {
    ...kind(['authentication'], ['start']),
    ...FAILED,
    ...APP,
    ...REQUEST,
    'event.reason': 'not_signed_in',
  },
  session_begun: { ...kind(['session'], ['start']), 'user.id': '7', ...REQUEST },
  consent_given: { ...kind(['iam'], ['creation']), ...APP, ...SAM, ...GRANT, ...REQUEST },
  consent_denied: { ...kind(['iam'], ['info']), ...APP, ...SAM, ...REQUEST },
  code_issued: { ...kind(['authentication'], ['info']), ...APP, ...SAM, ...GRANT, ...REQUEST },
  token_issued: { ...kind(['session'], ['start']), ...APP, ...SAM, ...GRANT, ...REQUEST },
  token_answer_replayed: { ...kind(['session'], ['info']), ...APP, ...SAM, ...GRANT, ...REQUEST },
  code_repeated: { ...kind(['session'], ['denied']), ...FAILED, ...APP, ...SAM, ...GRANT, ...REQUEST },
  token_refreshed: { ...kind(['session'], ['info']), ...APP, ...SAM, ...GRANT, ...REQUEST },
  token_revoked: { ...kind(['session'], ['end']), ...APP, ...SAM, ...GRANT, ...REQUEST, 'coursegate.by': 'app' },
  code_reuse: {
    ...kind(['intrusion_detection', 'session'], ['denied', 'end']),
    ...ALERT,
    ...APP,
    ...SAM,
    ...GRANT,
    ...REQUEST,
  },
  refresh_token_reuse: {
    ...kind(['intrusion_detection', 'session'], ['denied', 'end']),
    ...ALERT,
    ...APP,
    ...SAM,
    ...GRANT,
    ...REQUEST,
  },
  tool_called: {
    ...kind(['api'], ['access']),
    'oauth.client_id': ID,
    ...SAM,
    ...GRANT,
    ...REQUEST,
    'mcp.tool': 'get_my_account',
    'event.duration': DURATION,
  },
  mutation_called: {
    ...kind(['api'], ['change']),
    ...FAILED,
    'oauth.client_id': ID,
    ...SAM,
    ...GRANT,
    ...REQUEST,
    'graphql.mutation': 'cancelEventRegistration',
    'event.duration': DURATION,
    'event.reason': 'insufficient_scope',
  },
  access_denied: {
    ...kind(['api'], ['denied']),
    ...FAILED,
    'oauth.client_id': ID,
    ...SAM,
    ...GRANT,
    ...REQUEST,
    'event.reason': 'insufficient_scope',
    'coursegate.route': '/api/v1/orders/**',
  },
  limit_tripped: { ...kind(['api'], ['denied']), ...FAILED, ...SAM, ...REQUEST, 'coursegate.limit': 'member' },
  app_disconnected: {
    ...kind(['iam', 'session'], ['deletion', 'end']),
    'oauth.client_id': ID,
    'oauth.client_name': 'Story App',
    ...SAM,
    ...GRANT,
    ...REQUEST,
    'coursegate.by': 'member',
  },
  grant_ended: {
    ...kind(['iam', 'session'], ['deletion', 'end']),
    'oauth.client_id': ID,
    ...SAM,
    ...GRANT,
    ...COMMAND,
  },
  member_suspended: {
    ...kind(['iam'], ['change', 'user']),
    ...SAM,
    ...COMMAND,
    'oauth.grants_ended': expect.any(Number),
  },
  member_resumed: { ...kind(['iam'], ['change', 'user']), ...SAM, ...COMMAND },
  member_revoked: { ...kind(['iam'], ['change', 'user']), ...SAM, ...COMMAND, 'oauth.grants_ended': 0 },
  client_revoked: { ...kind(['iam'], ['change']), 'oauth.client_id': ID, ...COMMAND, 'oauth.grants_ended': 0 },
  command_refused: {
    ...kind(['api', 'intrusion_detection'], ['denied']),
    ...ALERT,
    'source.address': expect.stringMatching(/127\.0\.0\.1$/),
    'source.ip': expect.stringMatching(/127\.0\.0\.1$/),
    'event.reason': expect.stringMatching(/signature/),
  },
  keys_rotated: {
    ...kind(['configuration'], ['change']),
    'coursegate.key_id': KEY_ID,
    ...COMMAND,
  },
  key_imported: { ...kind(['configuration'], ['change']), 'coursegate.key_id': KEY_ID, ...COMMAND },
  key_removed: { ...kind(['configuration'], ['change']), 'coursegate.key_id': KEY_ID, ...COMMAND },
  store_resealed: { ...kind(['configuration'], ['change']), ...COMMAND },
  assertions_tried: { ...kind(['api'], ['access']), ...SAM, ...COMMAND },
  client_disabled: {
    ...kind(['iam'], ['change']),
    'oauth.client_id': ID,
    'oauth.client_host': 'app.example',
    ...COMMAND,
    'oauth.grants_ended': 0,
  },
  registration_closed: { ...kind(['configuration'], ['change']), ...COMMAND },
  registration_opened: { ...kind(['configuration'], ['change']), ...COMMAND },
  client_enabled: { ...kind(['iam'], ['change']), 'oauth.client_id': ID, ...COMMAND },
  member_changed: {
    ...kind(['iam'], ['change', 'user']),
    'user.id': 'ann',
    ...REQUEST,
    'coursegate.by': 'backend',
    'event.reason': 'version_changed',
    'oauth.grants_ended': 1,
  },
  backend_session_over: {
    ...kind(['session'], ['end']),
    ...FAILED,
    'oauth.client_id': ID,
    'user.id': 'ann',
    ...GRANT,
    ...REQUEST,
    'coursegate.by': 'backend',
    'event.reason': expect.any(String),
  },
};

/** Events that the tests of their own modules cover. */
const ELSEWHERE: readonly string[] = [
  'refresh_token_ahead',
  'school_exported',
  'school_resumed',
  'school_imported',
  'school_removed',
  'approval_requested',
  'tool_changed',
  'approval_given',
  'approval_declined',
  'approval_used',
  'approval_expired',
  'session_ended',
  'config_reloaded',
  'operator_signed_in',
  'operator_signed_out',
  'routes_accepted',
  'events_retried',
];

const folder = mkdtempSync(join(tmpdir(), 'coursegate-events-'));
const logTo = (name: string, level: 'info' | 'error' = 'info') => createLog(level, openSync(join(folder, name), 'a'));
const linesOf = (name: string) =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"event.action"'))
    .map((line) => JSON.parse(line) as Line);

/** Sets the User-Agent on every request of the story, whichever client sends it. */
const realFetch = globalThis.fetch;
const named: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  if (headers.get('user-agent') !== WEB_VIEW) headers.set('user-agent', 'story/1.0');
  return realFetch(input, { ...init, headers });
};

/** On the demo: apps register and are deleted, members approve and deny, commands are sent, requests are refused. */
async function story(): Promise<void> {
  const world = await startWorld({
    profile: 'A',
    log: logTo('story'),
    environment: { COMMAND_SECRET },
    overrides: {
      admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
      limits: { member: { requests: 60, per: '1h' }, address: 'unlimited', client: 'unlimited', attempts: 'unlimited' },
    },
  });
  try {
    const app = await registerApp(world.origin, { metadata: { client_name: 'Story App' } });
    const updated = await manage(app.client, 'PUT');

    const stranger = createBrowser();
    const login = await stranger.open((await authorizationRequest(app)).url);
    await stranger.open(world.origin + new URL(login.url).searchParams.get('return_to'));
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    await browser.submit(page, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));

    const { form } = await approved(app);
    const { body: first } = await token(app, form);
    await token(app, form);
    for (let times = 0; times < 2; times += 1) await token(app, refreshForm(app, first.refresh_token));
    await token(app, form, await otherKey(app));
    const { body: third } = await token(app, (await approved(app)).form);
    const { body: fourth } = await token(app, refreshForm(app, third.refresh_token));
    await token(app, refreshForm(app, fourth.refresh_token));
    await token(app, refreshForm(app, third.refresh_token));
    await revoke(app, (await connect(app)).access_token);

    const tokens = await connect(app, { parameters: { scope: 'openid account:read courses:read' } });
    await call(world, 'get_my_account', {}, { token: tokens.access_token });
    await fetch(`${world.origin}/account/graphql`, {
      method: 'POST',
      headers: { ...bearer(tokens.access_token), 'content-type': 'application/json' },
      body: '{"query":"mutation { cancelEventRegistration(id: \\"none\\") { __typename } }"}',
    });
    for (let times = 0; times < 3; times += 1)
      await fetch(`${world.origin}/api/v1/orders`, { headers: bearer(tokens.access_token) });
    await fetch(`${world.origin}/api/v1/orders`);

    const member = createBrowser();
    await signIn(member, world.origin, { login: 'student@example.com', password: 'student' });
    const apps = await member.open(`${world.origin}/oauth/apps`);
    const [, link = ''] = /href="([^"]*\/oauth\/apps\/disconnect\?app[^"]*)"/.exec(apps.text) ?? [];
    await member.submit(await member.open(new URL(link.replaceAll('&amp;', '&'), apps.url).href), {});

    const body = '{"by":"operator","reason":"refund"}';
    const { access_token } = await connect(app);
    for (let times = 0; times < 61; times += 1) await statusOf(world.origin, access_token);
    for (const path of ['members/m-1001/suspend', 'members/m-1001/resume', 'members/m-1001/revoke'])
      await command(world.admin, `/${path}`, { body });
    await command(world.admin, `/clients/${app.client.client_id}/revoke`, { body });
    await command(world.admin, '/members/m-1001/revoke', { secret: 'wrong' });
    for (const verb of ['disable', 'enable'])
      await command(world.admin, `/clients/${app.client.client_id}/${verb}`, { body });
    const decided = { by: 'operator', reason: 'refund' };
    const { keys } = (await command(world.admin, '/keys/rotate', { body: JSON.stringify({ ...decided, now: true }) }))
      .body as { keys: { kid: string }[] };
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    await command(world.admin, '/keys/import', { body: JSON.stringify({ ...decided, key }) });
    await command(world.admin, `/keys/${keys[0]?.kid}/remove`, { body });
    await command(world.admin, '/store/reseal', { body });
    await command(world.admin, '/assertions/try', { body: JSON.stringify({ ...decided, member: 'm-1001' }) });
    const operator = await openConsole(world);
    for (const verb of ['close', 'open']) await operator.post(`/console/registration/${verb}`, { reason: 'refund' });
    await manage(updated, 'DELETE');
  } finally {
    await world.close();
  }
}

async function manage(client: Readonly<Record<string, unknown>>, method: 'PUT' | 'DELETE'): Promise<Line> {
  const {
    registration_access_token,
    registration_client_uri,
    client_id_issued_at,
    client_secret_expires_at,
    ...metadata
  } = client;
  const body = JSON.stringify(metadata);
  const answer = await fetch(String(client.registration_client_uri), {
    method,
    headers: { authorization: `Bearer ${client.registration_access_token}`, 'content-type': 'application/json' },
    ...(method === 'PUT' ? { body } : {}),
  });
  expect([200, 204]).toContain(answer.status);
  return method === 'PUT' ? ((await answer.json()) as Line) : {};
}

/** Members who enter their passwords on the gate's own page. */
async function ownSignIn(): Promise<void> {
  const file = join(folder, 'members.yaml');
  const password = '$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG';
  writeFileSync(file, `members:\n  - ${JSON.stringify({ id: 7, login: 'ann', email: 'ann@school.test', password })}\n`);
  const gate = await startSignIn(
    { kind: 'directory', file, attempts: { account: { requests: 3, per: 3600 }, address: 'unlimited' } },
    { log: logTo('own-sign-in') },
  );
  try {
    await gate.attempt('ann', 'ann’s');
    await gate.attempt('ann', 'hunter2');
    await gate.attempt('ANN ', 'hunter2');
    await gate.attempt('ann', 'hunter2');
    await gate.attempt('nobody', 'hunter2', { 'user-agent': WEB_VIEW });
  } finally {
    await gate.close();
  }
}

const WEB_VIEW =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0 Mobile Safari/537.36';

/** A school that returns a version of each member, and an app that acts with the member's own session. */
async function school(): Promise<void> {
  let epoch = 1;
  let over = false;
  const upstream = await startRecordingUpstream((request, response) => {
    const [, id = ''] = /school_session=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
    const known = id !== '' && !(over && request.url !== '/api/me');
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id, email: `${id}@school.example`, epoch }));
  });
  const world = await startWorld({
    profile: 'A',
    // The log level that an operator sets must not affect the audit log.
    log: logTo('school', 'error'),
    overrides: {
      upstreams: {
        school: { url: upstream.url, identity: [], credential: { kind: 'session', cookies: ['school_session'] } },
      },
      login: { whoami: { version: '/epoch' } },
      routes: [{ match: '* /api/legacy/**', upstream: 'school', anonymous: 'refuse' }],
      mcp: { resources: [], prompts: [], tools: [] },
    },
  });
  try {
    const first = await connectWith(world.origin, { school_session: 'ann' });
    over = true;
    await (await fetch(`${world.origin}/api/legacy/things`, { headers: bearer(first.token) })).text();
    over = false;
    await connectWith(world.origin, { school_session: 'ann' });
    epoch = 2;
    await connectWith(world.origin, { school_session: 'ann' });
  } finally {
    await world.close();
    await upstream.close();
  }
}

describe('the audit log', () => {
  let lines: readonly Line[];
  let ownLines: readonly Line[];
  beforeAll(async () => {
    globalThis.fetch = named;
    try {
      await story();
      await ownSignIn();
      await school();
    } finally {
      globalThis.fetch = realFetch;
    }
    ownLines = linesOf('own-sign-in');
    lines = [...linesOf('story'), ...ownLines, ...linesOf('school')];
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(Object.entries(EVENTS))('logs %s with exactly these fields', (action, fields) => {
    const { time, pid, hostname, ...line } = lines.find((one) => one['event.action'] === action) ?? {};
    expect(line).toEqual({ ...ALWAYS, 'event.action': action, ...fields });
    expect([typeof time, typeof pid, typeof hostname]).toEqual(['number', 'number', 'string']);
  });

  it('has every action of the source in the table and in the documentation', () => {
    const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
    const actions = [...read('src/operations/audit.ts').matchAll(/^ {2}(\w+): kind\(/gm)].map(([, name]) => name);
    expect(actions.length).toBeGreaterThan(25);
    expect([...Object.keys(EVENTS), ...ELSEWHERE].toSorted()).toEqual(actions.toSorted());
    const documented = read('docs/observability.md');
    expect(actions.filter((action) => !documented.includes(`\`${action}\``))).toEqual([]);
  });

  it('says why a sign-in failed and for which account, but never what was typed', () => {
    const failed = ownLines.filter((line) => line['event.action'] === 'sign_in_failed');
    expect(failed.map((line) => line['event.reason'])).toEqual([
      'wrong_credentials',
      'wrong_credentials',
      'too_many_attempts',
      'wrong_credentials',
    ]);
    const [one, two, three, four] = failed.map((line) => line['user.hash']);
    expect(one).toMatch(/^[\w-]{22}$/);
    expect([two, three]).toEqual([one, one]);
    expect(four).not.toBe(one);
    expect(JSON.stringify(ownLines)).not.toMatch(/hunter2|"ann"|nobody/i);
  });

  it('marks a sign-in from a web view, which is still admitted', () => {
    const shown = ownLines.map((line) => [line['user_agent.original'], line['coursegate.web_view']]);
    expect(shown).toContainEqual([WEB_VIEW, true]);
    expect(shown.filter(([agent]) => agent !== WEB_VIEW).every(([, view]) => view === undefined)).toBe(true);
  });

  it('has the user agent and the trace of a WebSocket that is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-upgrade-'));
    const log = createLog('info', openSync(join(folder, 'log'), 'w'));
    const overrides = { listen: { trustedProxies: ['loopback'] } };
    const world = await startWorld({ profile: 'A', log, overrides });
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/api/v1/courses`, {
      headers: { ...bearer('unknown'), 'user-agent': 'sockets/1', traceparent: `00-${trace}-b7ad6b7169203331-01` },
    });
    await once(socket, 'error');
    await world.close();
    const denied = readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('access_denied'));
    rmSync(folder, { recursive: true });
    expect(denied.map((line) => JSON.parse(line))).toMatchObject([
      { 'event.reason': 'invalid_token', 'user_agent.original': 'sockets/1', 'trace.id': trace },
    ]);
  });

  it('logs a repeated refusal of the same app once', () => {
    const denied = lines.filter((line) => line['event.action'] === 'access_denied');
    expect(denied.filter((line) => line['event.reason'] === 'insufficient_scope')).toHaveLength(1);
  });

  it('does not log requests without a token, with which every app begins', () => {
    const denied = lines.filter((line) => line['event.action'] === 'access_denied');
    expect(denied.map((line) => line['event.reason'])).not.toContain('no_token');
  });

  it('has the same trace in all events of one request', () => {
    const both = lines.filter((line) =>
      ['signed_in', 'consent_given', 'code_issued'].includes(String(line['event.action'])),
    );
    const traces = new Map<unknown, Set<unknown>>();
    for (const line of both) {
      const of = traces.get(line['http.request.id']) ?? new Set();
      traces.set(line['http.request.id'], of.add(line['trace.id']));
    }
    expect([...traces.values()].every((of) => of.size === 1)).toBe(true);
    expect(new Set([...traces.values()].flatMap((of) => [...of])).size).toBe(traces.size);
  });
});
