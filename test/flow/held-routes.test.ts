import { createHash } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { call } from '../mcp/support/mcp.ts';
import { type App, registerApp } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { connect } from '../support/connection.ts';
import { OLU, SAM, signIn } from '../support/member.ts';
import { type RawAnswer, rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const HELD = {
  match: 'GET|POST|PUT|DELETE /courses/{course}/enrolments',
  upstream: 'writes',
  scopes: ['courses:write'],
  approve: true,
};
const OWN = {
  match: 'POST /members/{member.id}/notes',
  upstream: 'writes',
  scopes: ['courses:write'],
  approve: true,
  body: { author: '{member.id}' },
};
const FREE = { match: 'POST /free', upstream: 'writes', scopes: ['courses:write'] };
const PATH = '/courses/c-1/enrolments';
const TOOL = {
  name: 'enrol',
  title: 'Enrol in a course',
  description: 'Enrols the member.',
  scopes: ['courses:write'],
  input: { properties: { course: { type: 'string', title: 'Course' } }, required: ['course'] },
  route: 'POST /courses/{course}/enrolments',
};
const MINUTES = 60_000;
const TEN_MINUTES = 10 * MINUTES;

let number = 0;
const answering: Script = async (_request, response, { whole }) => {
  await whole;
  number += 1;
  response
    .writeHead(201, { 'content-type': 'application/json' })
    .end(JSON.stringify({ enrolment: `number-${number}` }));
};

interface Sent {
  readonly by?: string;
  readonly method?: string;
  readonly path?: string;
  /** Null: none. */
  readonly body?: string | Buffer | null;
  readonly type?: string | readonly string[] | undefined;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

const STORES = [
  { store: 'sqlite', present: () => true },
  { store: 'redis', present: redisPresent },
] as const;

describe.each(STORES.filter(({ present }) => present()))('a route that holds its requests, on $store', ({ store }) => {
  let world: World;
  let writes: RecordingUpstream;
  let redis: RedisServer | undefined;
  let folder: string;
  let app: App;
  let token: string;
  let sam: Browser;
  let late = 0;

  const overrides = (routes: readonly object[] = [HELD, OWN, FREE]) => ({
    tokens: { access: '12h' },
    upstreams: { writes: { url: writes.url, headers: { request: { allow: ['x-term'] } } } },
    routes,
    mcp: { tools: [TOOL], resources: [], prompts: [] },
    ...(store === 'sqlite' ? {} : { store: { kind: store, url: { env: 'REDIS_URL' } } }),
    secret: { env: 'COURSEGATE_SECRET' },
  });
  beforeAll(async () => {
    writes = await startRecordingUpstream(answering);
    folder = mkdtempSync(join(tmpdir(), 'coursegate-held-'));
    redis = store === 'redis' ? await startRedis() : undefined;
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + late,
      schoolClock: Date.now,
      environment: { COURSEGATE_SECRET: 'k'.repeat(32), REDIS_URL: redis?.url ?? '' },
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

  const send = ({ by = token, method = 'POST', path = PATH, body = '{"note":"a"}', type, headers = {} }: Sent = {}) =>
    rawRequest(world.origin, {
      method,
      path,
      headers: {
        authorization: `Bearer ${by}`,
        ...(type === undefined && body !== null ? { 'content-type': 'application/json' } : {}),
        ...(type !== undefined && { 'content-type': type as string }),
        ...headers,
      } as Record<string, string>,
      ...(body === null ? {} : { body }),
    });
  // biome-ignore lint/suspicious/noExplicitAny: a body is judged field by field
  const bodyOf = ({ text }: RawAnswer): any => JSON.parse(text);
  const written = async (work: () => Promise<unknown>): Promise<number> => {
    const before = writes.requests.length;
    await work();
    return writes.requests.length - before;
  };
  /** Expects that the request waits and that nothing reaches the upstream. Returns the page of its approval. */
  const held = async (sent: Sent = {}): Promise<string> => {
    let answer: RawAnswer | undefined;
    expect(
      await written(async () => {
        answer = await send(sent);
      }),
    ).toBe(0);
    expect(answer?.status, answer?.text).toBe(403);
    const { code, approval } = bodyOf(answer as RawAnswer);
    expect(code).toBe('approval_required');
    return approval.url;
  };
  const decide = async (url: string, decision: 'approve' | 'deny', browser = sam) =>
    browser.submit(await browser.open(url), { decision });
  const approved = async (sent: Sent = {}): Promise<string> => {
    const url = await held(sent);
    expect((await decide(url, 'approve')).text).toContain('<h1>Approved</h1>');
    return url;
  };
  const lines = (action: string, id = '') =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"${action}"`) && line.includes(id))
      .map((line) => JSON.parse(line) as Record<string, string>);

  it('waits, is approved on a page, and is sent once', async () => {
    const path = `${PATH}?notify=1&term=autumn%202026`;
    const sent = { path, body: '{"note":"as <b>told</b>","seats":12345678901234567890,"more":[{"a":true}]}' };
    const first = await send(sent);
    expect([first.status, first.headers['content-type']]).toEqual([403, 'application/problem+json']);
    for (const name of ['www-authenticate', 'retry-after', 'link', 'location'])
      expect(first.headers[name], name).toBeUndefined();
    expect(first.headers['cache-control']).toBe('no-store');
    expect(first.headers['access-control-allow-origin']).toBe('*');
    const problem = bodyOf(first);
    expect(problem).toEqual({
      type: 'about:blank',
      title:
        'Nothing was done yet: the member has to approve this request at the URL. Then send the same request again.',
      status: 403,
      code: 'approval_required',
      approval: {
        url: expect.stringMatching(/^http:\/\/localhost:\d+\/oauth\/apps\/approvals\/[\w-]{43}$/),
        expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
      },
      request_id: first.headers['x-request-id'],
      trace_id: expect.any(String),
    });
    expect(Date.parse(problem.approval.expires_at)).toBeGreaterThan(Date.now() + 8 * MINUTES);
    expect(bodyOf(await send(sent)).approval).toEqual(problem.approval);

    const page = await sam.open(problem.approval.url);
    for (const text of [
      ...[
        'Test App',
        'Create and change the school’s courses',
        `POST ${PATH}?notify=1&amp;term=autumn%202026`,
        '>course<',
        '>c-1<',
        '>autumn 2026<',
      ],
      ...['>note<', 'as &lt;b&gt;told&lt;/b&gt;', '12345678901234567890', '&quot;a&quot;: true'],
    ])
      expect(page.text).toContain(text);
    expect((await sam.submit(page, { decision: 'approve' })).text).toContain('<h1>Approved</h1>');

    const done = await send(sent);
    expect([done.status, bodyOf(done).enrolment]).toEqual([201, expect.stringMatching(/^number-/)]);
    expect(writes.last()).toMatchObject({ method: 'POST', target: path });
    expect(writes.last().body.toString()).toBe(sent.body);
    await held(sent);
  });

  it('is in the audit at each step, without what was sent', async () => {
    const url = await approved({ body: '{"note":"not-for-the-log"}' });
    await send({ body: '{"note":"not-for-the-log"}' });
    for (const action of ['approval_requested', 'approval_given', 'approval_used']) {
      const found = lines(action, url.slice(-43));
      expect(found, action).toHaveLength(1);
      expect(found[0]).toMatchObject({
        'user.id': 'm-1001',
        'oauth.client_id': app.client.client_id,
        'coursegate.route': HELD.match,
      });
    }
    expect(readFileSync(join(folder, 'log'), 'utf8')).not.toContain('not-for-the-log');
  });

  it('is in the history of the app that its member sees, and not among what it read', async () => {
    const other = await registerApp(world.origin);
    const by = await connected(other);
    await approved({ by });
    await send({ by });
    await decide(await held({ by, body: '{"note":"no"}' }), 'deny');
    const { text } = await sam.open(`${world.origin}/oauth/apps/app?app=${other.client.client_id}`);
    const asked = text.slice(text.indexOf('What it asked you to approve'), text.indexOf('Changes it made'));
    for (const line of [
      'You approved an action',
      'You declined an action',
      'Carried out an action that you had approved',
    ])
      expect(asked).toContain(`${line} · once`);
    expect(text).not.toContain('What it read');
  });

  it('is declined for ten minutes', async () => {
    await decide(await held({ body: '{"note":"no"}' }), 'deny');
    const answer = await send({ body: '{"note":"no"}' });
    expect([answer.status, bodyOf(answer).code, bodyOf(answer).approval]).toEqual([
      403,
      'approval_declined',
      { expires_at: expect.any(String) },
    ]);
    late += TEN_MINUTES;
    await held({ body: '{"note":"no"}' });
  });

  it('lets requests pass that only read, and other routes', async () => {
    expect((await send({ method: 'GET', body: null })).status).toBe(201);
    expect((await send({ path: '/free' })).status).toBe(201);
  });

  describe('an approval', () => {
    it.each<[string, Sent]>([
      ['another body', { body: '{"note":"b"}' }],
      ['the same JSON in other bytes', { body: '{ "note":"a"}' }],
      ['no body', { body: null }],
      ['another content type', { type: 'application/json; charset=utf-8' }],
      ['another query', { path: `${PATH}?a=1` }],
      ['an empty query', { path: `${PATH}?` }],
      ['another path', { path: '/courses/c-2/enrolments' }],
      ['another method', { method: 'PUT' }],
      ['a field that the operator lets through', { headers: { 'x-term': '2' } }],
      ['a field that changes what is written', { headers: { 'content-range': 'bytes 0-1/2' } }],
    ])('is not for a request with %s', async (_, changed) => {
      const url = await approved();
      expect(await held(changed)).not.toBe(url);
      expect((await send()).status).toBe(201);
    });

    it('is not for a request with any other field that says what it does', async () => {
      const names = [
        ...['content-language', 'content-disposition', 'content-location', 'if-match', 'if-none-match', 'range'],
        ...['prefer', 'idempotency-key', 'accept-version', 'api-version', 'x-api-version'],
      ];
      const urls = [await approved()];
      for (const name of names) urls.push(await held({ headers: { [name]: 'a' } }));
      expect(new Set(urls).size).toBe(names.length + 1);
      const others = ['x-range', 'x-content-type', 'content-types', 'if-', 'not-if-match', 'ranges', 'x-prefer'];
      expect((await send({ headers: Object.fromEntries(others.map((name) => [name, 'a'])) })).status).toBe(201);
    });

    it('is for any spelling of the same request', async () => {
      await approved();
      expect((await send({ path: '/courses/%63-1/enrolments' })).status).toBe(201);
      await approved();
      const chunked = await send({
        headers: { 'transfer-encoding': 'chunked', 'user-agent': 'another', accept: '*/*' },
      });
      expect(chunked.status).toBe(201);
    });

    it('is not for another app, another connection of the app, or another member', async () => {
      const others = [
        await connected(await registerApp(world.origin)),
        await connected(app),
        await connected(app, OLU),
      ];
      await approved();
      for (const by of others) await held({ by });
      expect((await send()).status).toBe(201);
    });

    it('is used up by one of many requests at once, and by one that the upstream refuses', async () => {
      await approved();
      let statuses: number[] = [];
      const reached = await written(async () => {
        statuses = (await Promise.all(Array.from({ length: 8 }, () => send()))).map(({ status }) => status);
      });
      expect([reached, statuses.toSorted()]).toEqual([1, [201, ...Array(7).fill(403)]]);
      await approved();
      writes.script(async (_request, response, { whole }) => {
        await whole;
        response.writeHead(422).end();
      });
      expect((await send()).status).toBe(422);
      writes.script(answering);
      await held();
    });

    it('is not for the route once its definition has changed', async () => {
      const changes: readonly object[][] = [
        [{ ...HELD, rewrite: '/elsewhere/*/enrolments' }],
        [{ ...HELD, bodyLimit: '2KiB' }],
        [{ ...HELD, match: 'POST /courses/{course}/enrolments' }],
      ];
      for (const routes of changes) {
        await approved();
        expect((await world.reload(overrides(routes))).kind).toBe('taken');
        await held();
        await world.reload(overrides());
        expect((await send()).status).toBe(201);
      }
    });

    it('expires, and says so once in the audit', async () => {
      const undecided = await held({ body: '{"note":"never decided"}' });
      const unused = await approved({ body: '{"note":"never used"}' });
      late += TEN_MINUTES;
      expect((await sam.open(undecided)).status).toBe(404);
      await signIn(sam, world.origin, SAM);
      await held({ body: '{"note":"never decided"}' });
      await held({ body: '{"note":"never used"}' });
      const expired = (url: string) => lines('approval_expired', url.slice(-43));
      expect(expired(undecided)).toEqual([expect.objectContaining({ 'event.reason': 'undecided' })]);
      expect(expired(unused)).toEqual([expect.objectContaining({ 'event.reason': 'unused', 'user.id': 'm-1001' })]);
    });
  });

  describe('what is sent', () => {
    it('is shown: forms and text', async () => {
      const form = 'note=one+two&note=<i>&course=%C3%A9';
      const page = await sam.open(await held({ body: form, type: 'application/x-www-form-urlencoded' }));
      for (const text of ['>one two<', '>&lt;i&gt;<', '>é<']) expect(page.text).toContain(text);
      expect((await sam.open(await held({ body: 'line <1>', type: 'text/plain' }))).text).toContain('line &lt;1&gt;');
    });

    it('is shown as type, size and digest if it has no words', async () => {
      const body = Buffer.from([1, 2, 3, 255]);
      const page = await sam.open(await held({ body, type: 'application/pdf' }));
      for (const text of ['application/pdf', '4 bytes', createHash('sha256').update(body).digest('hex')])
        expect(page.text).toContain(text);
      await sam.submit(page, { decision: 'approve' });
      await held({ body: Buffer.from([1, 2, 4, 255]), type: 'application/pdf' });
      expect((await send({ body, type: 'application/pdf' })).status).toBe(201);
      expect(writes.last().body).toEqual(body);
    });

    it('may have 16000 characters of words, or 1 MiB without words', async () => {
      await held({ body: `{"a":"${'x'.repeat(16_000 - 8)}"}` });
      await held({ body: Buffer.alloc(1024 * 1024), type: 'image/png' });
    });

    it.each<[string, Sent, number, RegExp]>([
      ['with one name twice', { body: '{"a":{"to":1,"to":2}}' }, 400, /without a name twice/],
      ['that is no JSON', { body: '{"a":' }, 400, /incomplete/],
      ['in two content types', { type: ['application/json', 'text/plain'] }, 400, /Content-Type/],
      ['that is compressed', { headers: { 'content-encoding': 'gzip' } }, 415, /Compressed/],
      [
        'that is longer than a member reads',
        { body: `{"a":"${'x'.repeat(16_001 - 8)}"}` },
        413,
        /at most 16000 characters/,
      ],
      ['over the bound', { body: Buffer.alloc(1024 * 1024 + 1), type: 'image/png' }, 413, /at most 1 MiB/],
      [
        'over the bound, in chunks',
        {
          body: Buffer.alloc(1024 * 1024 + 1),
          type: 'image/png',
          headers: { 'transfer-encoding': 'chunked', connection: 'close' },
        },
        413,
        /at most 1 MiB/,
      ],
      ['for another method, in the query', { path: `${PATH}?_method=DELETE` }, 400, /_method/],
      ['for another method, in the body', { body: '{"_method":"DELETE"}' }, 400, /_method/],
      [
        'for another method, of a request that reads',
        { method: 'GET', path: `${PATH}?_method=POST`, body: null },
        400,
        /_method/,
      ],
    ])('is refused %s, and nobody is asked', async (_, sent, status, text) => {
      const asked = lines('approval_requested').length;
      const reached = await written(async () => {
        const answer = await send(sent);
        expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(text)]);
      });
      expect([reached, lines('approval_requested').length]).toEqual([0, asked]);
    });

    it('is held with the member’s own id in it, and not for another member’s record', async () => {
      const path = '/members/m-1001/notes';
      const page = await sam.open(await held({ path, body: '{"author":"m-1002","note":"x"}' }));
      expect(page.text).toContain('>m-1001<');
      expect(page.text).not.toContain('m-1002');
      await sam.submit(page, { decision: 'approve' });
      expect((await send({ path, body: '{"note":"x"}' })).status).toBe(201);
      expect(writes.last().body.toString()).toBe('{"author":"m-1001","note":"x"}');
      const other = await send({ path: '/members/m-1002/notes', body: '{"note":"x"}' });
      expect([other.status, bodyOf(other).code]).toEqual([403, 'forbidden']);
    });
  });

  it('is asked for once by a tool that sends such requests, in the words of the tool', async () => {
    const enrol = async () => (await call(world, 'enrol', { course: 'c-tool' }, { token })).body.result;
    let url = '';
    expect(
      await written(async () => {
        url = (await enrol())._meta['coursegate/approval'].url;
      }),
    ).toBe(0);
    const page = await sam.open(url);
    expect(page.text).toContain('Enrol in a course');
    await sam.submit(page, { decision: 'approve' });
    expect(
      await written(async () => {
        expect((await enrol()).isError).toBeUndefined();
      }),
    ).toBe(1);
  });

  it('is described to apps', async () => {
    const openapi = await (await fetch(`${world.origin}/openapi.json`)).json();
    const { get, post } = openapi.paths['/courses/{course}/enrolments'];
    expect(get.parameters).toMatchObject([{ name: 'course', in: 'path' }]);
    expect(post.responses['403']).toEqual({ $ref: '#/components/responses/RouteHeld' });
    expect(get.responses['403']).toEqual({ $ref: '#/components/responses/RouteForbidden' });
    expect(post.description).toMatch(/limited to 1 MiB\. The member approves each request/);
    const text = await (await fetch(`${world.origin}/auth.md`)).text();
    expect(text).toContain('`approval_required`');
  });

  it('ends with the grant', async () => {
    const ended = await registerApp(world.origin);
    const by = await connected(ended);
    const url = await held({ by });
    await sam.submit(await sam.open(`${world.origin}/oauth/apps/disconnect?app=${ended.client.client_id}`), {});
    expect((await sam.open(url)).status).toBe(404);
  });

  it.skipIf(store !== 'redis')('is answered with 503 while the store is unavailable', async () => {
    await approved();
    redis?.hang();
    const reached = await written(async () => expect((await send()).status).toBe(503));
    redis?.resume();
    expect(reached).toBe(0);
    await vi.waitUntil(async () => (await send({ method: 'GET', body: null })).status === 201, {
      timeout: 30_000,
    });
  });
});
