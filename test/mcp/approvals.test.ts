import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storedApprovals } from '../../src/approvals/approvals.ts';
import { createLog } from '../../src/operations/log.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { type App, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect } from '../support/connection.ts';
import { OLU, SAM, signIn } from '../support/member.ts';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';
import { call } from './support/mcp.ts';

const string = { type: 'string' };
const ENROL = {
  name: 'enrol',
  title: 'Enrol in a course',
  description: 'Enrols the member.',
  scopes: ['courses:write'],
  input: {
    properties: { course: { ...string, title: 'Course' }, note: string, more: {} },
    required: ['course'],
  },
  output: { properties: { enrolment: string }, required: ['enrolment'] },
  route: 'POST /enrolments/{course}',
  approve: true,
};
const LEAVE = { ...ENROL, name: 'leave', title: 'Leave a course', route: 'POST /departures/{course}' };
const FREE = {
  ...{ ...ENROL, name: 'free', title: 'Do anything', route: 'POST /departures/{course}' },
  input: { ...ENROL.input, additionalProperties: true },
};
const ROUTES = [
  { match: 'POST /enrolments/*', upstream: 'writes', scopes: ['courses:write'] },
  { match: 'POST /departures/*', upstream: 'writes', scopes: ['courses:write'] },
];
const SAM_ID = 'm-1001';
const MINUTES = 60_000;

/** Counts calls, so that no two responses are alike. */
let number = 0;
const enrolling: Script = async (_request, response, { whole }) => {
  await whole;
  number += 1;
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ enrolment: `number-${number}` }));
};

const STORES = [
  { store: 'memory', present: () => true },
  { store: 'sqlite', present: () => true },
  { store: 'redis', present: redisPresent },
] as const;

describe('an approval in the store', () => {
  const call = {
    ...{ member: 'm-1', clientId: 'c-1', grantId: 'g-1', version: 'v-1', call: 'a' },
    what: { used: { kind: 'tool', name: 'enrol' } },
  } as const;
  const shown = async () => ({ title: 'Enrol', scopes: [], given: [] });
  const approvedOne = async () => {
    const approvals = storedApprovals(memoryStore(Date.now), Date.now);
    const admission = await approvals.admit(call, shown);
    const approval = await approvals.find('id' in admission ? admission.id : '');
    if (approval !== undefined) await approvals.decide(approval, 'approved');
    return approvals;
  };

  it.each([
    { member: 'm-2' },
    { clientId: 'c-2' },
    { grantId: 'g-2' },
    { what: { used: { kind: 'tool', name: 'leave' } } } as const,
    { what: { route: 'enrol' } },
    { version: 'v-2' },
    { call: 'b' },
    { member: 'm-1","c-1', clientId: '' },
  ])('is not for a call with another %o', async (changed) => {
    const approvals = await approvedOne();
    expect(await approvals.admit({ ...call, ...changed }, shown)).toMatchObject({ kind: 'waiting', isNew: true });
    expect(await approvals.admit(call, shown)).toMatchObject({ kind: 'approved' });
    expect(await approvals.admit(call, shown)).toMatchObject({ kind: 'waiting', isNew: true });
  });

  it('is for one of two calls that have both found it', async () => {
    const approvals = await approvedOne();
    const both = await Promise.all([approvals.admit(call, shown), approvals.admit(call, shown)]);
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['approved', 'waiting']);
  });

  it('leaves nothing behind when it is used', async () => {
    const store = memoryStore(Date.now);
    const approvals = storedApprovals(store, Date.now);
    const admission = await approvals.admit(call, shown);
    const approval = await approvals.find('id' in admission ? admission.id : '');
    if (approval !== undefined) await approvals.decide(approval, 'approved');
    expect((await store.findBy('Approval', 'grant', 'g-1')).length).toBe(1);
    await approvals.admit(call, shown);
    expect(await store.findBy('Approval', 'grant', 'g-1')).toEqual([]);
  });
});

describe.each(STORES.filter(({ present }) => present()))('a call that its member approves, on $store', ({ store }) => {
  let world: World;
  let writes: RecordingUpstream;
  let redis: RedisServer | undefined;
  let folder: string;
  let app: App;
  let token: string;
  let sam: Browser;
  let late = 0;

  const overrides = (tools: readonly object[] = [ENROL, LEAVE, FREE], routes: readonly object[] = ROUTES) => ({
    tokens: { access: '12h' },
    upstreams: { writes: { url: writes.url } },
    routes,
    mcp: { tools, resources: [], prompts: [] },
    admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
    ...(store === 'sqlite' ? {} : { store: { kind: store, ...(redis && { url: { env: 'REDIS_URL' } }) } }),
    secret: { env: 'COURSEGATE_SECRET' },
  });
  beforeAll(async () => {
    writes = await startRecordingUpstream(enrolling);
    folder = mkdtempSync(join(tmpdir(), 'coursegate-approvals-'));
    redis = store === 'redis' ? await startRedis() : undefined;
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + late,
      schoolClock: Date.now,
      environment: { COMMAND_SECRET, COURSEGATE_SECRET: 'k'.repeat(32), REDIS_URL: redis?.url ?? '' },
      overrides: overrides(),
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
    });
    app = await registerApp(world.origin);
    token = await connected(app);
    sam = createBrowser();
    await signIn(sam, world.origin, SAM);
  });
  afterAll(async () => {
    await world.close();
    await writes.close();
    await redis?.close();
    rmSync(folder, { recursive: true });
  });

  const connected = async (of: App, member: { login: string; password: string } = SAM) =>
    (await connect(of, { member, parameters: { scope: 'account:read courses:write' } })).access_token;
  // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
  const enrol = async (args: object, { by = token, name = 'enrol' } = {}): Promise<any> =>
    (await call(world, name, args, { token: by })).body.result;
  /** The page of a call that waits. */
  const waiting = (result: { _meta?: Record<string, { url: string }> }): string => {
    const url = result._meta?.['coursegate/approval']?.url;
    if (url === undefined) throw new Error(`does not wait: ${JSON.stringify(result)}`);
    return url;
  };
  const decide = async (url: string, decision: 'approve' | 'deny', browser = sam): Promise<Page> =>
    browser.submit(await browser.open(url), { decision });
  /** Makes a call, and has it approved. */
  const approved = async (args: object, how = {}): Promise<string> => {
    const url = waiting(await enrol(args, how));
    expect((await decide(url, 'approve')).text).toContain('<h1>Approved</h1>');
    return url;
  };
  const written = async (work: () => Promise<unknown>): Promise<number> => {
    const before = writes.requests.length;
    await work();
    return writes.requests.length - before;
  };
  /** Expects that the call waits, and that nothing reaches the upstream. */
  const held = async (args: object, how = {}) => {
    let url = '';
    expect(
      await written(async () => {
        url = waiting(await enrol(args, how));
      }),
    ).toBe(0);
    return url;
  };
  const lines = (action: string) =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"${action}"`))
      .map((line) => JSON.parse(line) as Record<string, string>);

  it.each([
    ['SDK v2', () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })],
    ['SDK v2, legacy', () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } })],
    ['SDK v1', () => new ClientV1({ name: 'test', version: '1' })],
  ])('waits, is approved on a page, and is made once: %s', async (sdk, make) => {
    const client = make() as Client;
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const url = new URL('/mcp/member', world.origin);
    const transport = sdk === 'SDK v1' ? TransportV1 : StreamableHTTPClientTransport;
    await client.connect(new transport(url, { requestInit }) as StreamableHTTPClientTransport);
    await client.listTools();
    const args = { course: 'c-1', note: `by ${sdk}\nas told` };
    // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
    const send = (): Promise<any> => client.callTool({ name: 'enrol', arguments: args });

    const before = writes.requests.length;
    const first = await send();
    expect(first.isError).toBe(true);
    expect(first.structuredContent).toBeUndefined();
    const { url: page, expiresAt } = first._meta['coursegate/approval'];
    expect(page).toMatch(/^http:\/\/localhost:\d+\/oauth\/apps\/approvals\/[\w-]{43}$/);
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 9 * MINUTES);
    expect(first.content[0].text).toBe(
      `Nothing was done yet: the member has to approve this call first. Give them this link, which shows it to them: ${page} Once they have approved it there, make the same call with the same arguments. The approval is for one call, and the link is valid until ${expiresAt}.`,
    );
    // Asked again meanwhile, it is the same request.
    expect((await send())._meta['coursegate/approval']).toEqual({ url: page, expiresAt });
    expect(writes.requests.length).toBe(before);

    const shown = await sam.open(page);
    expect(shown.status).toBe(200);
    for (const text of ['Test App', 'Enrol in a course', 'Course', '>c-1<', 'note', `by ${sdk}\nas told`, SAM.login])
      expect(shown.text).toContain(text);
    expect(shown.text).toContain('Not verified');
    const done = await sam.submit(shown, { decision: 'approve' });
    expect(done.text).toContain('<h1>Approved</h1>');
    expect(writes.requests.length).toBe(before);

    expect((await send()).structuredContent.enrolment).toMatch(/^number-/);
    expect(writes.requests.length).toBe(before + 1);
    expect(JSON.parse(writes.last().body.toString())).toEqual({ note: `by ${sdk}\nas told` });
    expect((await send()).isError).toBe(true);
    expect(writes.requests.length).toBe(before + 1);
    await client.close();
  });

  describe('through a client that opens addresses', () => {
    type Answer = 'accept' | 'decline' | 'cancel';
    /** The result of one call, and the addresses that the client was asked to open. */
    const callThrough = async (
      args: object,
      answer: (url: string) => Promise<Answer>,
      {
        mode = 'auto',
        elicitation = { url: {} },
      }: { mode?: 'auto' | 'legacy'; elicitation?: Record<string, Record<string, string>> } = {},
      // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
    ): Promise<{ result: any; opened: string[] }> => {
      const opened: string[] = [];
      const client = new Client(
        { name: 'test', version: '1' },
        { capabilities: { elicitation }, versionNegotiation: { mode } },
      );
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        if (params.mode !== 'url') throw new Error('asked with a form');
        expect(params.message).toBe('Approve this call: Enrol in a course');
        opened.push(params.url);
        return { action: await answer(params.url) };
      });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', world.origin), { requestInit }));
      const result = await client.callTool({ name: 'enrol', arguments: { ...args } });
      await client.close();
      return { result, opened };
    };

    it('is made in the same call once the member has approved it on the page', async () => {
      const reached = await written(async () => {
        const { result, opened } = await callThrough({ course: 'c-url' }, async (url) => {
          await decide(url, 'approve');
          return 'accept';
        });
        expect(opened).toEqual([expect.stringMatching(/^http:.*\/oauth\/apps\/approvals\/[\w-]{43}$/)]);
        expect(result.structuredContent.enrolment).toMatch(/^number-/);
      });
      expect(reached).toBe(1);
    });

    it.each<Answer>(['accept', 'decline', 'cancel'])('is not made because the client says %s', async (answer) => {
      const reached = await written(async () => {
        const { result, opened } = await callThrough({ course: `c-says-${answer}` }, async () => answer);
        expect(opened).toHaveLength(1);
        expect([result.isError, waiting(result)]).toEqual([true, opened[0]]);
      });
      expect(reached).toBe(0);
    });

    it('is not made when the member declined on the page, whatever the client says', async () => {
      const { result } = await callThrough({ course: 'c-url-no' }, async (url) => {
        await decide(url, 'deny');
        return 'accept';
      });
      expect(result.content[0].text).toMatch(/^The member declined this call/);
    });

    it('has the link in the result of one that only shows forms, or speaks an earlier revision', async () => {
      const never = async (): Promise<Answer> => 'accept';
      for (const how of [{ elicitation: { form: {} } }, { mode: 'legacy' } as const]) {
        const { result, opened } = await callThrough({ course: 'c-url-old' }, never, how);
        expect([opened, result.isError]).toEqual([[], true]);
        waiting(result);
      }
    });
  });

  it('is in the audit at each step, without its arguments', async () => {
    const url = await approved({ course: 'c-audit', note: 'not-for-the-log' });
    const id = url.split('/').at(-1);
    expect((await enrol({ course: 'c-audit', note: 'not-for-the-log' })).isError).toBeUndefined();
    await decide(await held({ course: 'c-audit' }), 'deny');
    const about = { 'user.id': SAM_ID, 'oauth.client_id': app.client.client_id, 'mcp.tool': 'enrol' };
    for (const action of ['approval_requested', 'approval_given', 'approval_used']) {
      const [line, ...others] = lines(action).filter((one) => one['coursegate.approval'] === id);
      expect(line, action).toMatchObject({ ...about, 'oauth.grant_id': expect.any(String) });
      expect(others, action).toEqual([]);
    }
    expect(lines('approval_declined').at(-1)).toMatchObject(about);
    expect(lines('tool_called').at(-1)).toMatchObject({ 'event.outcome': 'failure', 'event.reason': 'approval' });
    expect(readFileSync(join(folder, 'log'), 'utf8')).not.toContain('not-for-the-log');
  });

  it('has one result for one idempotency key, with one approval', async () => {
    const args = { course: 'c-key', idempotencyKey: 'wish-of-sam-no-1' };
    await approved(args);
    const first = await enrol(args);
    expect(first.structuredContent.enrolment).toMatch(/^number-/);
    expect(
      await written(async () => {
        expect(await enrol(args)).toEqual(first);
        await held({ ...args, idempotencyKey: 'wish-of-sam-no-2' });
      }),
    ).toBe(0);
  });

  describe('an approval', () => {
    it.each([
      ['another value', { course: 'c-1', note: 'b' }],
      ['one argument more', { course: 'c-1', note: 'a', more: 1 }],
      ['one argument less', { course: 'c-1' }],
      ['a value in the path', { course: 'c-2', note: 'a' }],
    ])('is not for a call with %s', async (_, args) => {
      await approved({ course: 'c-1', note: 'a' });
      await held(args);
      expect((await enrol({ course: 'c-1', note: 'a' })).isError).toBeUndefined();
    });

    it('is not for a value of another form that looks alike', async () => {
      await approved({ course: 'c-form', more: { a: 1 } });
      for (const more of [[['a', 1]], { a: '1' }, '{"a":1}', [{ a: 1 }]]) await held({ course: 'c-form', more });
      expect((await enrol({ more: { a: 1 }, course: 'c-form' })).isError).toBeUndefined();
    });

    it('is not for another tool', async () => {
      await approved({ course: 'c-tool' });
      await held({ course: 'c-tool' }, { name: 'leave' });
    });

    it('is used up by one of many calls at once', async () => {
      await approved({ course: 'c-once' });
      let results: { isError?: true }[] = [];
      const reached = await written(async () => {
        results = await Promise.all(Array.from({ length: 8 }, () => enrol({ course: 'c-once' })));
      });
      expect(results.filter(({ isError }) => isError === undefined)).toHaveLength(1);
      expect(reached).toBe(1);
    });

    it('is used up although the upstream refuses the call', async () => {
      await approved({ course: 'c-refused' });
      writes.script(async (_request, response, { whole }) => {
        await whole;
        response.writeHead(422).end();
      });
      expect((await enrol({ course: 'c-refused' })).content[0].text).toMatch(/does not accept/);
      writes.script(enrolling);
      await held({ course: 'c-refused' });
    });

    it('is not for another app, another connection of the app, or another member', async () => {
      const [other, again, olu] = [
        await connected(await registerApp(world.origin)),
        await connected(app),
        await connected(app, OLU),
      ];
      await approved({ course: 'c-bound' });
      for (const by of [other, again, olu]) await held({ course: 'c-bound' }, { by });
      expect((await enrol({ course: 'c-bound' })).isError).toBeUndefined();
    });

    it('is not for the tool once its definition has changed', async () => {
      const changes: readonly (readonly object[])[][] = [
        [[{ ...ENROL, route: 'POST /departures/{course}' }]],
        [[{ ...ENROL, description: 'Enrols the member, and pays.' }]],
        [[{ ...ENROL, scopes: ['courses:write', 'account:read'] }]],
        [[{ ...ENROL, input: { ...ENROL.input, additionalProperties: true } }]],
        [[ENROL], [{ ...ROUTES[0], rewrite: '/somewhere/*' }, ROUTES[1] ?? {}]],
      ];
      for (const [tools = [], routes] of changes) {
        await approved({ course: 'c-version' });
        const reload = await world.reload(overrides(tools, routes));
        expect(reload.kind, JSON.stringify(reload)).toBe('taken');
        await held({ course: 'c-version' });
        await world.reload(overrides());
        expect((await enrol({ course: 'c-version' })).isError).toBeUndefined();
      }
    });

    it('expires ten minutes after it was given, and the question ten minutes after it was asked', async () => {
      const url = await held({ course: 'c-time' });
      late += 9 * MINUTES;
      await decide(url, 'approve');
      late += 9 * MINUTES;
      expect((await enrol({ course: 'c-time' })).isError).toBeUndefined();
      await approved({ course: 'c-time' });
      late += 10 * MINUTES;
      const unanswered = await held({ course: 'c-time' });
      late += 10 * MINUTES;
      expect((await sam.open(unanswered)).status).toBe(404);
      await signIn(sam, world.origin, SAM);
    });

    it('that is declined is remembered until it expires', async () => {
      const url = await held({ course: 'c-no' });
      expect((await decide(url, 'deny')).text).toContain('<h1>Declined</h1>');
      const { isError, content, _meta } = await enrol({ course: 'c-no' });
      expect([isError, _meta]).toEqual([true, undefined]);
      expect(content[0].text).toMatch(/^The member declined this call, and nothing was done\. /);
      expect((await sam.open(url)).text).not.toContain('<form method="post" action="/oauth/apps/approvals');
      late += 10 * MINUTES;
      await held({ course: 'c-no' });
    });
  });

  describe('the page', () => {
    it('asks to sign in first, and comes back', async () => {
      const url = await held({ course: 'c-page' });
      const browser = createBrowser();
      const login = await browser.open(url);
      expect(new URL(login.url).pathname).toBe('/login');
      expect(login.text).not.toContain('c-page');
      const page = await browser.submit(login, SAM);
      expect(page.url).toBe(url);
      expect(page.text).toContain('c-page');
      const back = await createBrowser().open(`${url}/return`);
      expect(back.text).toContain('<main id="apps-sign-in">');
    });

    it('shows another member nothing, and takes nothing from them', async () => {
      const url = await held({ course: 'c-page' });
      const olu = createBrowser();
      await signIn(olu, world.origin, OLU);
      const page = await olu.open(url);
      expect(page.status).toBe(404);
      expect(page.text).toContain('it is for another account');
      for (const secret of ['c-page', 'Enrol', 'Test App', SAM.login]) expect(page.text).not.toContain(secret);
      const guessed = await olu.open(url.slice(0, -43) + 'a'.repeat(43));
      expect([guessed.status, guessed.text]).toEqual([404, page.text]);

      const form = { decision: 'approve', csrf: csrfOf(await sam.open(url)) };
      const posted = await post(url, form, olu);
      expect(posted.status).toBe(303);
      await held({ course: 'c-page' });
    });

    it('is for browsers with the member’s own sign-in: a token opens nothing', async () => {
      const url = await held({ course: 'c-page' });
      const headers = { authorization: `Bearer ${token}` };
      const got = await fetch(url, { headers, redirect: 'manual' });
      expect([got.status, await got.text()]).toEqual([303, '']);
      const posted = await fetch(url, {
        ...{ method: 'POST', headers, redirect: 'manual' },
        body: new URLSearchParams({ decision: 'approve', csrf: 'x' }),
      });
      expect(posted.status).toBe(303);
      await held({ course: 'c-page' });
    });

    it.each([
      [
        'a script of the site',
        { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' },
      ],
      [
        'a form of another site',
        { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' },
      ],
      ['another origin', { origin: 'https://evil.example' }],
    ])('takes no approval from %s', async (_, headers) => {
      const url = await held({ course: 'c-page' });
      const form = { decision: 'approve', csrf: csrfOf(await sam.open(url)) };
      expect((await post(url, form, sam, headers)).status).toBe(403);
      await held({ course: 'c-page' });
    });

    it('cannot be read by a script of the site', async () => {
      const url = await held({ course: 'c-page' });
      const answer = await fetch(url, {
        headers: { cookie: cookiesOf(sam), 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
      });
      expect(answer.status).toBe(403);
      expect(await answer.text()).not.toContain('c-page');
    });

    it('takes no forged, foreign or old form', async () => {
      const url = await held({ course: 'c-form-1' });
      const other = await held({ course: 'c-form-2' });
      for (const csrf of ['', 'x'.repeat(43), csrfOf(await sam.open(other))]) {
        const answer = await post(url, { decision: 'approve', csrf }, sam);
        expect([answer.status, answer.headers.get('location')]).toEqual([303, new URL(url).pathname]);
      }
      const old = await sam.open(url);
      expect((await post(url, { decision: 'perhaps', csrf: csrfOf(old) }, sam)).status).toBe(303);
      await held({ course: 'c-form-1' });
      await sam.submit(old, { decision: 'approve' });
      expect((await enrol({ course: 'c-form-1' })).isError).toBeUndefined();
      // The same call is asked for again: the form of the first time, which has its address, approves nothing.
      expect(await held({ course: 'c-form-1' })).toBe(url);
      await sam.submit(old, { decision: 'approve' });
      await held({ course: 'c-form-1' });
    });

    it('takes a double click for one approval', async () => {
      const url = await held({ course: 'c-double' });
      const page = await sam.open(url);
      const given = () =>
        lines('approval_given').filter((one) => url.endsWith(one['coursegate.approval'] ?? '?')).length;
      const pages = await Promise.all([1, 2].map(() => sam.submit(page, { decision: 'approve' })));
      for (const { text } of pages) expect(text).toContain('<h1>Approved</h1>');
      expect((await sam.submit(page, { decision: 'deny' })).text).toContain('<h1>Approved</h1>');
      expect(given()).toBe(1);
      expect((await enrol({ course: 'c-double' })).isError).toBeUndefined();
    });

    it('shows markup as text, and characters that would not be seen as signs', async () => {
      const note = '<b>bold</b> &amp; a\u200Bb\u202Ec\u3164d\u{E0041}e ❤️\n\nlast';
      const page = await sam.open(await held({ course: 'c-text', note, more: { list: [1, '<i>'] } }));
      expect(page.text).toContain('&lt;b&gt;bold&lt;/b&gt; &amp;amp; a\uFFFDb\uFFFDc\uFFFDd\uFFFDe ❤️\n\nlast');
      expect(page.text).toContain('&lt;i&gt;');
      expect(page.text).not.toContain('<b>bold');
    });

    it('shows arguments whatever their names are', async () => {
      const args = { course: 'c-names', constructor: 'one', toString: 'two', '<b>': 'three' };
      const page = await sam.open(await held(args, { name: 'free' }));
      expect(page.status).toBe(200);
      for (const text of ['constructor', 'one', 'toString', 'two', '&lt;b&gt;', 'three'])
        expect(page.text).toContain(`>${text}<`);
      await decide(page.url, 'approve');
      expect((await enrol(args, { name: 'free' })).isError).toBeUndefined();
    });

    it('is not made for more than a member reads', async () => {
      const { isError, content, _meta } = await enrol({ course: 'c-long', note: 'x'.repeat(16_001) });
      expect([isError, _meta]).toEqual([true, undefined]);
      expect(content[0].text).toBe(
        'The arguments cannot be used: they are too long for the member to read and approve.',
      );
      const note = 'x'.repeat(15_900);
      expect((await sam.open(await held({ course: 'c-long', note }))).text).toContain(note);
    });
  });

  it('ends with the grant, whether it waits or is approved', async () => {
    const ended = await registerApp(world.origin);
    const by = await connected(ended);
    const waits = await held({ course: 'c-end-1' }, { by });
    const page = await sam.open(waits);
    await approved({ course: 'c-end-2' }, { by });
    const ask = await sam.open(`${world.origin}/oauth/apps/disconnect?app=${ended.client.client_id}`);
    await sam.submit(ask, {});
    expect((await call(world, 'enrol', { course: 'c-end-2' }, { token: by })).status).toBe(401);
    expect((await sam.open(waits)).status).toBe(404);
    expect((await sam.submit(page, { decision: 'approve' })).status).toBe(404);
  });

  it('waits within the member’s share of the store', async () => {
    const by = await connected(await registerApp(world.origin));
    const note = 'y'.repeat(15_000);
    const urls: string[] = [];
    for (let at = 0; at < 40; at += 1) urls.push(await held({ course: `c-many-${at}`, note }, { by }));
    const statuses = await Promise.all(urls.map(async (url) => (await sam.open(url)).status));
    const gone = statuses.indexOf(200);
    expect(gone).toBeGreaterThan(5);
    expect(statuses.slice(gone)).toEqual(statuses.slice(gone).map(() => 200));
  });

  it('is over when the member is cut off', async () => {
    const by = await connected(app, OLU);
    const olu = createBrowser();
    await signIn(olu, world.origin, OLU);
    const url = await held({ course: 'c-cut' }, { by });
    await decide(url, 'approve', olu);
    const time = Math.floor((Date.now() + late) / 1000);
    expect((await command(world.admin, '/members/m-1002/suspend', { time })).status).toBe(200);
    expect((await call(world, 'enrol', { course: 'c-cut' }, { token: by })).status).toBe(401);
    expect((await olu.open(url)).status).toBe(404);
    await command(world.admin, '/members/m-1002/resume', { time });
  });

  it.skipIf(store !== 'redis')('is not made while the store is unavailable', async () => {
    await approved({ course: 'c-down' });
    redis?.hang();
    const reached = await written(async () => {
      const { status, body } = await call(world, 'enrol', { course: 'c-down' }, { token });
      if (status === 200) expect(body.result).toMatchObject({ isError: true });
      else expect(status).toBe(503);
    });
    redis?.resume();
    expect(reached).toBe(0);
    await expect.poll(async () => (await call(world, 'enrol', { course: 'c-up' }, { token })).status).toBe(200);
  });

  const cookiesOf = (browser: Browser) =>
    [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
  const csrfOf = (page: Page) => /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? 'none';
  const post = (url: string, form: Record<string, string>, browser: Browser, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: cookiesOf(browser), ...headers },
      body: new URLSearchParams(form),
    });
});

describe('a call about which the gate asks the backend first', () => {
  let world: World;
  let upstream: RecordingUpstream;
  let token: string;
  let sam: Browser;
  const TOOLS = [
    {
      ...ENROL,
      dryRun: { dry_run: '1' },
      titles: { course: 'GET /courses/{course}#/data/title', note: 'GET /courses/{note}#/data/title' },
    },
  ];
  const MORE = [...ROUTES, { match: 'GET /courses/*', upstream: 'writes', scopes: ['courses:write'] }];
  /** What the backend answers to a dry run. */
  let wouldBe: { status: number; body: unknown };

  beforeAll(async () => {
    upstream = await startRecordingUpstream(async (request, response, { whole }) => {
      await whole;
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const answer = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.method === 'GET')
        return pathname === '/courses/c-1'
          ? void answer(200, { data: { title: `Harbour <b>Navigation</b>${'!'.repeat(300)}` } })
          : void answer(404, {});
      if (searchParams.get('dry_run') === '1') return void answer(wouldBe.status, wouldBe.body);
      return void answer(200, { enrolment: 'number-1' });
    });
    world = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { writes: { url: upstream.url } },
        routes: MORE,
        mcp: { tools: TOOLS, resources: [], prompts: [] },
      },
    });
    token = (await connect(await registerApp(world.origin), { parameters: { scope: 'account:read courses:write' } }))
      .access_token;
    sam = createBrowser();
    await signIn(sam, world.origin, SAM);
  });
  afterAll(async () => {
    await world.close();
    await upstream.close();
  });
  beforeEach(() => {
    wouldBe = { status: 200, body: { seat: 12, price: '40 EUR', text: 'a\u200Bb <i>', long: 'y'.repeat(9000) } };
  });
  // biome-ignore lint/suspicious/noExplicitAny: a result is judged field by field
  const enrol = async (args: object): Promise<any> => (await call(world, 'enrol', args, { token })).body.result;
  const sent = () => upstream.requests.map(({ method, target }) => `${method} ${target}`);

  it('shows what the call would do and what its ids stand for, and makes it once it is approved', async () => {
    const before = upstream.requests.length;
    const { url } = (await enrol({ course: 'c-1', note: 'none' }))._meta['coursegate/approval'];
    expect(sent().slice(before).toSorted()).toEqual([
      'GET /courses/c-1',
      'GET /courses/none',
      'POST /enrolments/c-1?dry_run=1',
    ]);
    const dry = upstream.requests.slice(before).find(({ method }) => method === 'POST');
    expect(JSON.parse(String(dry?.body))).toEqual({ note: 'none' });
    // Asked again meanwhile, nothing is asked of the backend.
    await enrol({ course: 'c-1', note: 'none' });
    expect(upstream.requests.length).toBe(before + 3);

    const page = await sam.open(url);
    expect(page.text).toContain('What <bdi>Harbour Lane School</bdi> says it would do');
    for (const text of ['>seat<', '>12<', '40 EUR']) expect(page.text).toContain(text);
    expect(page.text).toContain(`<strong>Harbour &lt;b&gt;Navigation&lt;/b&gt;${'!'.repeat(175)}</strong>\nc-1<`);
    expect(page.text).toContain('<dd dir="auto">none</dd>');
    expect(page.text).not.toMatch(/y{1001}|\u200B|<i>/);
    await sam.submit(page, { decision: 'approve' });
    expect((await enrol({ course: 'c-1', note: 'none' })).structuredContent).toEqual({ enrolment: 'number-1' });
    expect(sent().slice(before + 3)).toEqual(['POST /enrolments/c-1']);
  });

  it('is refused if the backend says that it would refuse it, and nobody is asked', async () => {
    wouldBe = { status: 409, body: {} };
    const { isError, content, _meta } = await enrol({ course: 'c-2' });
    expect([isError, _meta, content[0].text]).toEqual([true, undefined, 'This conflicts with the current state.']);
    wouldBe = { status: 503, body: {} };
    expect((await enrol({ course: 'c-2' }))._meta).toBeUndefined();
    wouldBe = { status: 200, body: {} };
    expect((await enrol({ course: 'c-2' }))._meta['coursegate/approval'].url).toBeDefined();
  });

  it.each<[string, object, string]>([
    [
      'dryRun without a route',
      { dryRun: { a: '1' }, route: undefined, get: { upstream: 'writes', path: '/' } },
      'dryRun is only for tools with `route`',
    ],
    ['dryRun without approve', { dryRun: { a: '1' }, approve: false }, 'dryRun is only for tools with `approve`'],
    ['titles of what is no input', { titles: { other: 'GET /courses/{course}#/a' } }, 'titles.other uses "other"'],
    ['titles with what is no input', { titles: { course: 'GET /courses/{other}#/a' } }, 'titles.course uses "other"'],
    ['titles at no route', { titles: { course: 'GET /nothing/{course}#/a' } }, 'a request that no route matches'],
    ['titles of a change', { titles: { course: 'POST /enrolments/{course}#/a' } }, 'must be a GET with a pointer'],
    ['titles without a pointer', { titles: { course: 'GET /courses/{course}' } }, 'must be a GET with a pointer'],
  ])('is refused by check with %s', async (_, changed, message) => {
    const [tool = ENROL] = TOOLS;
    const { dryRun: _dryRun, titles: _titles, ...bare } = tool as typeof tool & Record<string, unknown>;
    const reload = await world.reload({
      upstreams: { writes: { url: upstream.url } },
      routes: MORE,
      mcp: { tools: [{ ...bare, ...changed }], resources: [], prompts: [] },
    });
    if (reload.kind !== 'refused') throw new Error(reload.kind);
    const { problems } = reload.why as unknown as { problems: { path: string; message: string }[] };
    expect(problems.map(({ path, message: text }) => `${path} ${text}`).join('\n')).toContain(message);
  });
});

describe('a gate with pages at a host of their own, and a mutation of the Account API as a tool', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      adjust: (config) => ({
        ...config,
        mcp: config.mcp && {
          ...config.mcp,
          tools: config.mcp.tools.map((tool) => ({ ...tool, approve: tool.name === 'save_playback_position' })),
        },
        pages: { ...config.pages, origin: config.origin.replace('localhost', '127.0.0.1') },
      }),
    });
  });
  afterAll(() => world.close());

  it('asks at that host, where the member signs in and comes back, and then makes the call', async () => {
    const pages = world.origin.replace('localhost', '127.0.0.1');
    const app = await registerApp(world.origin);
    const { access_token: token } = await connect(app, { parameters: { scope: 'account:read account:write' } });
    const args = { courseSlug: 'harbour-navigation', lectureId: '1', positionSeconds: 5 };
    const save = async () => (await call(world, 'save_playback_position', args, { token })).body.result;
    const { url } = (await save())._meta['coursegate/approval'];
    expect(url.startsWith(`${pages}/oauth/apps/approvals/`)).toBe(true);

    const elsewhere = await fetch(url.replace(pages, world.origin), { redirect: 'manual' });
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([303, url]);
    const browser = createBrowser();
    const page = await browser.submit(await browser.open(url), SAM);
    expect(page.url).toBe(url);
    expect(page.text).toContain('Save where I stopped');
    expect((await browser.submit(page, { decision: 'approve' })).text).toContain('<h1>Approved</h1>');
    const done = await save();
    expect(done.structuredContent).toMatchObject({ slug: args.courseSlug, positionSeconds: 5 });
  });
});
