import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leastCost } from '../support/pace.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Connected, connectedTo } from './support/backend.ts';

const UNAVAILABLE = { code: 'login_unavailable', status: 503 };

let backend: RecordingUpstream;
let gate: Connected;
beforeAll(async () => {
  backend = await startRecordingUpstream();
  gate = await connectedTo(backend.url);
});
afterAll(async () => {
  await gate.close();
  await backend.close();
});

/** Sets the backend's response from now on. */
const answers = (status: number, body: string | Buffer, headers: Record<string, string | string[]> = {}) =>
  backend.script((_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });

/** The member identified when the backend responds like this. */
const who = (status: number, body: string, whoami = {}, headers: Record<string, string | string[]> = {}) => {
  answers(status, body, headers);
  return gate.who(whoami);
};

const JSON_PLACES = {
  subject: '/user/id',
  email: '/user/email',
  name: '/user/name',
  authTime: '/at',
  acr: '/how',
};
const withId = (id: unknown, rest: object = {}) => who(200, JSON.stringify({ user: { id, ...rest } }), JSON_PLACES);

describe('the member ID in a whoami response', () => {
  it.each<[unknown, string]>([
    ['m-1', 'm-1'],
    [7, '7'],
    ['alice', 'alice'],
    ['Alice', 'Alice'],
    ['a b', 'a b'],
    ['x'.repeat(255), 'x'.repeat(255)],
    ['__proto__', '__proto__'],
    ['Zoë', 'Zoë'],
    ['00x', '00x'],
  ])('is accepted as %j, byte for byte', async (id, sub) => {
    expect(await withId(id)).toMatchObject({ sub });
  });

  it.each<[unknown]>([
    [''],
    [' '],
    ['alice '],
    [' alice'],
    ['alice\0'],
    ['alice\n'],
    ['alice\u200b'],
    ['\u202ealice'],
    ['al\ufffdce'],
    ['al\ud800ce'],
    ['x'.repeat(256)],
    ['x'.repeat(1024 * 1024)],
    [null],
    [true],
    [1.5],
    [1e21],
    [2 ** 53],
    [0],
    ['0'],
    ['00'],
    [['alice']],
    [{ id: 'alice' }],
    [{}],
  ])('is refused as %j', async (id) => {
    await expect(withId(id)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each(['', 'null', '[]', '"m-1"', '{', '<html>', '{"user":null}', '{"__proto__":{"user":{"id":"m-1"}}}'])(
    'is missing in %j',
    async (body) => {
      await expect(who(200, body, JSON_PLACES)).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  it('is refused if it is not valid UTF-8', async () => {
    answers(200, Buffer.from('{"id":"Zo\xeb"}', 'latin1'));
    await expect(gate.who()).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[string, string, string]>([
    ['"m-1"', '', 'm-1'],
    ['42', '', '42'],
    ['[{"id":"only"}]', '/0/id', 'only'],
    ['{"a/b":{"m~n":"m-1"}}', '/a~1b/m~0n', 'm-1'],
    ['{"~1":"m-1"}', '/~01', 'm-1'],
    ['{"":"m-1"}', '/', 'm-1'],
    ['{"01":"m-1"}', '/01', 'm-1'],
  ])('is found in %s at %j (RFC 6901)', async (body, subject, sub) => {
    expect(await who(200, body, { subject })).toMatchObject({ sub });
  });

  it.each<[string, string]>([
    ['["a","b"]', '/length'],
    ['["a","b"]', '/01'],
    ['["a","b"]', '/-'],
    ['"abc"', '/length'],
    ['{"id":"m-1"}', '/constructor/name'],
    ['{"id":"m-1"}', '/toString'],
  ])('is not found in %s at %j', async (body, subject) => {
    await expect(who(200, body, { subject })).rejects.toMatchObject(UNAVAILABLE);
  });

  // A coach's list of everyone begins with the superuser.
  it.each<[string, object]>([
    ['[{"id":"admin"},{"id":"m-1"}]', { subject: '/0/id' }],
    ['[{"id":"admin"},{"id":"m-1"}]', { subject: '/1/id' }],
    ['{"data":{"users":[{"id":"admin"},{"id":"m-1"}]}}', { subject: '/data/users/0/id' }],
    ['[{"id":"admin"},{"id":"m-1"}]', { anonymous: { absent: true } }],
    ['[{"id":"admin"},{"id":"m-1"}]', { subject: '/0/id', anonymous: { absent: true, values: ['admin'] } }],
    ['{"id":"m-1","all":["a@b.example","c@d.example"]}', { email: '/all/0' }],
    ['{"id":"m-1","all":["A","C"]}', { name: '/all/0' }],
    ['{"id":"m-1","all":[1700000000,1800000000]}', { authTime: '/all/1' }],
    ['{"id":"m-1","all":["1","2"]}', { version: '/all/0' }],
    ['{"id":"m-1","all":[null,"2"]}', { anonymous: { at: '/all/0', values: [null] } }],
  ])('is never chosen from several: %s with %j is a failure', async (body, whoami) => {
    await expect(who(200, body, whoami)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('comes with an email and a name if they are text of a sensible length', async () => {
    expect(await withId('m-1', { email: 'a@b.example', name: 'A' })).toMatchObject({ email: 'a@b.example', name: 'A' });
    for (const odd of ['', ' ', 'x'.repeat(321), 'a\ufffdb', 7, null, ['a'], {}]) {
      expect(await withId('m-1', { email: odd, name: odd })).toMatchObject({ email: undefined, name: undefined });
    }
  });

  it('comes with the time and method of the sign-in', async () => {
    const body = JSON.stringify({ user: { id: 1 }, at: 1_700_000_000, how: 'urn:passkey' });
    expect(await who(200, body, JSON_PLACES)).toMatchObject({ authTime: 1_700_000_000, acr: 'urn:passkey' });
  });
});

describe('a whoami response for an anonymous visitor', () => {
  it.each([301, 302, 303, 307, 308, 401, 403])('may be the status %i', async (status) => {
    expect(await who(status, '{"id":"m-1"}', {}, { location: '/login' })).toBeUndefined();
  });

  it.each([201, 204, 206, 300, 304, 400, 402, 404, 410, 429, 500, 502, 503])(
    'is not the status %i, which is a failure',
    async (status) => {
      await expect(who(status, status === 204 || status === 304 ? '' : '{"id":"m-1"}')).rejects.toMatchObject(
        UNAVAILABLE,
      );
    },
  );

  it('is a listed status, and no other', async () => {
    const anonymous = { statuses: [404] };
    expect(await who(404, '', { anonymous })).toBeUndefined();
    await expect(who(401, '', { anonymous })).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[boolean | string, string, boolean]>([
    [true, 'https://sso.example/', true],
    [false, '/login', false],
    ['^/login(\\?|$)', '/login?next=/api/me', true],
    ['^/login(\\?|$)', '/maintenance', false],
    ['^/login(\\?|$)', '/loginx', false],
  ])('with redirects %j may be a redirect to %s: %j', async (redirects, location, nobody) => {
    const answer = who(302, '', { anonymous: { redirects } }, { location });
    if (nobody) expect(await answer).toBeUndefined();
    else await expect(answer).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[string, object, boolean]>([
    ['{"user":null}', { at: '/user', values: [null] }, true],
    ['{"user":{"id":"m-1"}}', { at: '/user', values: [null] }, false],
    ['{"user":{"id":0}}', { values: [0] }, true],
    ['{"user":{"id":"0"}}', { values: [0] }, true],
    ['{"user":{"id":"guest"}}', { values: ['guest'] }, true],
    ['{"user":{"id":"m-1"},"ok":false}', { at: '/ok', values: [false] }, true],
    ['{"user":{}}', { absent: true }, true],
    ['{"user":{"id":"m-1"}}', { at: '/toString', absent: true }, true],
    ['{"user":{"id":"m-1"}}', { absent: true }, false],
    ['{"user":{"id":"m-1"}}', { body: '"id":"m-1"' }, true],
    ['<html>Please sign in', { body: '(?i)please SIGN in' }, true],
  ])('may be %s, with %j: %j', async (body, anonymous, nobody) => {
    const member = await who(200, body, { subject: '/user/id', anonymous });
    expect(member?.sub).toBe(nobody ? undefined : 'm-1');
  });

  it('does not confuse null with the text "null"', async () => {
    expect(await who(200, '{"id":"null"}', { anonymous: { values: [null] } })).toMatchObject({ sub: 'null' });
  });

  it.each<[string, object]>([
    ['{"user":null}', { values: [null] }],
    ['{"user":{"id":""}}', { values: [null] }],
    ['{"user":{"id":null}}', { absent: true }],
    ['{"user":{"id":1.5}}', { values: [0] }],
    ['<html>', { absent: true }],
  ])('is not %s with %j, which is a failure', async (body, anonymous) => {
    await expect(who(200, body, { subject: '/user/id', anonymous })).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('a cached whoami response', () => {
  it('is refused, because it may belong to another member', async () => {
    await expect(who(200, '{"id":"m-1"}', {}, { age: '7' })).rejects.toMatchObject(UNAVAILABLE);
    await expect(who(401, '', {}, { age: '7' })).rejects.toMatchObject(UNAVAILABLE);
    expect(await who(200, '{"id":"m-1"}', {}, { age: '0' })).toMatchObject({ sub: 'm-1' });
    expect(backend.last().values('cache-control')).toEqual(['no-cache']);
  });
});

describe('a whoami response in header fields', () => {
  const HEADER = { format: 'header', subject: 'X-Member', email: 'x-mail', version: 'X-Epoch' };

  it('names the member, in field names of any case', async () => {
    const fields = { 'x-MEMBER': 'm-1', 'X-Mail': 'a@b.example', 'x-epoch': '7', 'x-since': '1700000000' };
    expect(await who(200, 'whatever', { ...HEADER, authTime: 'X-Since' }, fields)).toMatchObject({
      sub: 'm-1',
      authTime: 1_700_000_000,
      email: 'a@b.example',
      name: undefined,
      version: '7',
    });
  });

  it.each<[string, Record<string, string | string[]>]>([
    ['nothing', { 'x-epoch': '7' }],
    ['an empty field', { 'x-member': '', 'x-epoch': '7' }],
    ['0', { 'x-member': '0', 'x-epoch': '7' }],
    ['two members', { 'x-member': ['m-1', 'm-2'], 'x-epoch': '7' }],
    ['no version', { 'x-member': 'm-1' }],
  ])('with %s is a failure', async (_name, fields) => {
    await expect(who(200, '', HEADER, fields)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('is anonymous if the configured rules say so', async () => {
    expect(await who(200, '', { ...HEADER, anonymous: { absent: true } })).toBeUndefined();
    expect(await who(200, '', { ...HEADER, anonymous: { values: ['', 0] } }, { 'x-member': '0' })).toBeUndefined();
    expect(await who(200, '', { ...HEADER, anonymous: { values: ['', 0] } }, { 'x-member': '' })).toBeUndefined();
  });
});

describe('a whoami response in HTML', () => {
  const HTML = {
    format: 'html',
    subject: '<input[^>]*id="user_id" value="(\\d+)"',
    name: '<b class="me">([^<]*)</b>',
    email: 'data-mail="([^"]*)"',
    version: '<meta name="epoch" content="([^"]+)">',
    anonymous: { body: '<body class="[^"]*\\bguest\\b' },
  };
  const page = (inside: string) => `<!doctype html><meta name="epoch" content="e&amp;1">${inside}`;

  it('names the member by the configured patterns, with character references decoded once', async () => {
    const body = page(
      '<input id="user_id" value="42"><b class="me">Zo&euml; O&#39;Neil &amp;lt; &#x1F600; &nope;\n</b><i data-mail="a&#64;b.example">',
    );
    expect(await who(200, body, HTML)).toEqual({
      sub: '42',
      name: "Zoë O'Neil &lt; 😀 &nope;",
      email: 'a@b.example',
      authTime: undefined,
      acr: undefined,
      version: 'e&1',
    });
    expect(backend.last().values('accept')).toEqual(['text/html,application/xhtml+xml']);
  });

  it('may name the same member several times', async () => {
    const again = '<input id="user_id" value="42">'.repeat(200);
    expect(await who(200, page(again), HTML)).toMatchObject({ sub: '42' });
  });

  it('is anonymous if the anonymous rule matches, whatever else it contains', async () => {
    const body = page('<body class="home guest"><input id="user_id" value="42">');
    expect(await who(200, body, HTML)).toBeUndefined();
  });

  it.each<[string, string]>([
    ['no member', page('<h1>Welcome</h1>')],
    ['the member 0', page('<input id="user_id" value="0">')],
    ['no version', '<input id="user_id" value="42">'],
    ['two members', page('<input id="user_id" value="1"><input id="user_id" value="42">')],
    ['two emails', page('<input id="user_id" value="42"><i data-mail="a@b.example"><i data-mail="c@d.example">')],
    ['more than a mebibyte', page(`<input id="user_id" value="42">${'x'.repeat(1024 * 1024)}`)],
    ['nothing', ''],
  ])('with %s is a failure', async (_name, body) => {
    await expect(who(200, body, HTML)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[string, string, string]>([
    ['(?:a+)+!(b)', 'a', ''],
    ['(?:a|a)*c(b)', 'a', 'c'],
    ['<p[^>]*>\\s*(\\w+)\\s*</p>q', '<p >', '</p>q'],
    ['(.*)=;', '=', ';x'],
    // Every match is a search to the end of the page.
    ['x(?:[^z]*z)?(q?)', 'x', 'y'],
  ])('is searched for a pattern such as %s in linear time', async (subject, filler, end) => {
    // The built-in regular expression engine needs from seconds to practically forever for each of these.
    const hostile = filler.repeat(Math.floor((512 * 1024) / filler.length)) + end;
    expect(await leastCost(3000, () => gateIsUnsure(hostile, subject))).toBeLessThan(3000);
  });

  const gateIsUnsure = async (body: string, subject: string) => {
    await expect(who(200, body, { format: 'html', subject })).rejects.toMatchObject(UNAVAILABLE);
  };
});

describe('the member version in a whoami response', () => {
  it.each<[unknown, string]>([
    ['2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z'],
    [7, '7'],
    [0, '0'],
    ['x'.repeat(1024), 'x'.repeat(1024)],
  ])('is accepted as %j', async (epoch, version) => {
    expect(await who(200, JSON.stringify({ id: 'm-1', epoch }), { version: '/epoch' })).toMatchObject({ version });
  });

  it.each([[undefined], [null], [''], [true], [1.5], [{}], [['a']], ['x'.repeat(1025)]])(
    'is refused as %j',
    async (epoch) => {
      const answer = who(200, JSON.stringify({ id: 'm-1', epoch }), { version: '/epoch' });
      await expect(answer).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  it('is ignored unless it is configured', async () => {
    expect(await who(200, '{"id":"m-1","version":"7"}')).toMatchObject({ version: undefined });
  });
});

describe('a whoami response that cannot be used', () => {
  /** The cause of the failure, which the log shows. */
  const causeOf = async (status: number, body: string, whoami: object = {}) => {
    const thrown = await who(status, body, whoami).catch((reason: unknown) => reason);
    return String((thrown as { cause?: Error }).cause?.message).replace(backend.url, 'http://school');
  };
  const EXPECTED = "Expected: 200 with the member's ID at /id, or 401, 403 or a redirect if no one is signed in.";

  it('is logged with its URL, its status and what was expected', async () => {
    expect(await causeOf(404, '')).toBe(`whoami at http://school/api/me returned 404. ${EXPECTED}`);
    expect(await causeOf(200, '<!doctype html>')).toBe(
      `whoami at http://school/api/me returned 200: no JSON. ${EXPECTED}`,
    );
    expect(await causeOf(200, '{"id":[]}')).toBe(
      `whoami at http://school/api/me returned 200: no usable id of a member. ${EXPECTED}`,
    );
    const anonymous = { statuses: [401], redirects: false, values: [null], at: '/user' };
    expect(await causeOf(403, '', { subject: '/user/id', anonymous })).toBe(
      "whoami at http://school/api/me returned 403. Expected: 200 with the member's ID at /user/id, or 401 or one of `anonymous.values` if no one is signed in.",
    );
  });

  it('is logged without values of the query that may be secrets', async () => {
    const path = '/api/me?coursegate=whoami&key=s3cr3t&wstoken=abc&id=0123456789abcdef0123';
    expect(await causeOf(500, '', { path })).toMatch(
      /^whoami at http:\/\/school\/api\/me\?coursegate=whoami&key=…&wstoken=…&id=… returned 500\. /,
    );
  });

  it('is logged with its URL if there is none', async () => {
    backend.script((request) => void request.socket.destroy());
    const thrown = await gate.who().catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({
      ...UNAVAILABLE,
      cause: { message: expect.stringMatching(/\/api\/me did not answer\. /) },
    });
  });
});
