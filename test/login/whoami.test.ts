import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('the member that whoami names', () => {
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
  ])('is %j, byte for byte', async (id, sub) => {
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
  ])('is not %j: nobody is signed in by that', async (id) => {
    await expect(withId(id)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each(['', 'null', '[]', '"m-1"', '{', '<html>', '{"user":null}', '{"__proto__":{"user":{"id":"m-1"}}}'])(
    'is nowhere in %j',
    async (body) => {
      await expect(who(200, body, JSON_PLACES)).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  it('is not made of bytes that are no UTF-8: two ids would become one', async () => {
    answers(200, Buffer.from('{"id":"Zo\xeb"}', 'latin1'));
    await expect(gate.who()).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[string, string, string]>([
    ['"m-1"', '', 'm-1'],
    ['42', '', '42'],
    ['[{"id":"first"},{"id":"second"}]', '/1/id', 'second'],
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

  it('has an email and a name where those are text of a sensible length', async () => {
    expect(await withId('m-1', { email: 'a@b.example', name: 'A' })).toMatchObject({ email: 'a@b.example', name: 'A' });
    for (const odd of ['', ' ', 'x'.repeat(321), 'a\ufffdb', 7, null, ['a'], {}]) {
      expect(await withId('m-1', { email: odd, name: odd })).toMatchObject({ email: undefined, name: undefined });
    }
  });

  it('has signed in then and so', async () => {
    const body = JSON.stringify({ user: { id: 1 }, at: 1_700_000_000, how: 'urn:passkey' });
    expect(await who(200, body, JSON_PLACES)).toMatchObject({ authTime: 1_700_000_000, acr: 'urn:passkey' });
  });
});

describe('nobody', () => {
  it.each([301, 302, 303, 307, 308, 401, 403])('is signed in when whoami answers %i', async (status) => {
    expect(await who(status, '{"id":"m-1"}', {}, { location: '/login' })).toBeUndefined();
  });

  it.each([201, 204, 206, 300, 304, 400, 402, 404, 410, 429, 500, 502, 503])(
    'is not what %i says: that is not known',
    async (status) => {
      await expect(who(status, status === 204 || status === 304 ? '' : '{"id":"m-1"}')).rejects.toMatchObject(
        UNAVAILABLE,
      );
    },
  );

  it('is told by the statuses that are listed, and no others', async () => {
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
  ])('with redirects %j, one to %s: %j', async (redirects, location, nobody) => {
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
  ])('%s, with %j: %j', async (body, anonymous, nobody) => {
    const member = await who(200, body, { subject: '/user/id', anonymous });
    expect(member?.sub).toBe(nobody ? undefined : 'm-1');
  });

  it('null is not the text "null"', async () => {
    expect(await who(200, '{"id":"null"}', { anonymous: { values: [null] } })).toMatchObject({ sub: 'null' });
  });

  it.each<[string, object]>([
    ['{"user":null}', { values: [null] }],
    ['{"user":{"id":""}}', { values: [null] }],
    ['{"user":{"id":null}}', { absent: true }],
    ['{"user":{"id":1.5}}', { values: [0] }],
    ['<html>', { absent: true }],
  ])('is not what %s says with %j: that is not known', async (body, anonymous) => {
    await expect(who(200, body, { subject: '/user/id', anonymous })).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('an answer out of a cache', () => {
  it('is ignored: it may belong to an earlier caller', async () => {
    await expect(who(200, '{"id":"m-1"}', {}, { age: '7' })).rejects.toMatchObject(UNAVAILABLE);
    await expect(who(401, '', {}, { age: '7' })).rejects.toMatchObject(UNAVAILABLE);
    expect(await who(200, '{"id":"m-1"}', {}, { age: '0' })).toMatchObject({ sub: 'm-1' });
    expect(backend.last().values('cache-control')).toEqual(['no-cache']);
  });
});

describe('in header fields', () => {
  const HEADER = { format: 'header', subject: 'X-Member', email: 'x-mail', version: 'X-Epoch' };

  it('the member is what they say, by names in any case', async () => {
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
  ])('%s is not known to be anybody', async (_name, fields) => {
    await expect(who(200, '', HEADER, fields)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('nobody is what the rules say is nobody', async () => {
    expect(await who(200, '', { ...HEADER, anonymous: { absent: true } })).toBeUndefined();
    expect(await who(200, '', { ...HEADER, anonymous: { values: ['', 0] } }, { 'x-member': '0' })).toBeUndefined();
    expect(await who(200, '', { ...HEADER, anonymous: { values: ['', 0] } }, { 'x-member': '' })).toBeUndefined();
  });
});

describe('in a page', () => {
  const HTML = {
    format: 'html',
    subject: '<input[^>]*id="user_id" value="(\\d+)"',
    name: '<b class="me">([^<]*)</b>',
    email: 'data-mail="([^"]*)"',
    version: '<meta name="epoch" content="([^"]+)">',
    anonymous: { body: '<body class="[^"]*\\bguest\\b' },
  };
  const page = (inside: string) => `<!doctype html><meta name="epoch" content="e&amp;1">${inside}`;

  it('the member is what the patterns capture, with references resolved once', async () => {
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

  it('a page that says nobody is nobody, whatever else stands in it', async () => {
    const body = page('<body class="home guest"><input id="user_id" value="42">');
    expect(await who(200, body, HTML)).toBeUndefined();
  });

  it.each<[string, string]>([
    ['no member', page('<h1>Welcome</h1>')],
    ['the member 0', page('<input id="user_id" value="0">')],
    ['no version', '<input id="user_id" value="42">'],
    ['more than a mebibyte', page(`<input id="user_id" value="42">${'x'.repeat(1024 * 1024)}`)],
    ['nothing', ''],
  ])('a page with %s is not known to be anybody’s', async (_name, body) => {
    await expect(who(200, body, HTML)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each<[string, string, string]>([
    ['(?:a+)+!(b)', 'a', ''],
    ['(?:a|a)*c(b)', 'a', 'c'],
    ['<p[^>]*>\\s*(\\w+)\\s*</p>q', '<p >', '</p>q'],
    ['(.*)=;', '=', ';x'],
  ])(
    'a pattern such as %s takes time in proportion to the page, whatever stands in it',
    async (subject, filler, end) => {
      // The built-in regular expression engine needs from seconds to practically forever for each of these.
      const hostile = filler.repeat(Math.floor((512 * 1024) / filler.length)) + end;
      const before = process.cpuUsage();
      await gateIsUnsure(hostile, subject);
      const { user } = process.cpuUsage(before);
      expect(user / 1000).toBeLessThan(3000);
    },
  );

  const gateIsUnsure = async (body: string, subject: string) => {
    await expect(who(200, body, { format: 'html', subject })).rejects.toMatchObject(UNAVAILABLE);
  };
});

describe('the version of a member', () => {
  it.each<[unknown, string]>([
    ['2026-11-21T00:00:00Z', '2026-11-21T00:00:00Z'],
    [7, '7'],
    [0, '0'],
    ['x'.repeat(1024), 'x'.repeat(1024)],
  ])('is %j as text', async (epoch, version) => {
    expect(await who(200, JSON.stringify({ id: 'm-1', epoch }), { version: '/epoch' })).toMatchObject({ version });
  });

  it.each([[undefined], [null], [''], [true], [1.5], [{}], [['a']], ['x'.repeat(1025)]])(
    'is never taken to be %j: the member is unknown then',
    async (epoch) => {
      const answer = who(200, JSON.stringify({ id: 'm-1', epoch }), { version: '/epoch' });
      await expect(answer).rejects.toMatchObject(UNAVAILABLE);
    },
  );

  it('is nothing where none is asked for', async () => {
    expect(await who(200, '{"id":"m-1","version":"7"}')).toMatchObject({ version: undefined });
  });
});
