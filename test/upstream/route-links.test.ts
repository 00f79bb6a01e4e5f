import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mapJsonLinks } from '../../src/upstream/json-links.ts';
import { leastCost } from '../support/pace.ts';
import { type ProxyWorld, startProxyWorld, startSignIn } from '../support/proxy-world.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

/** A backend below /base, whose API has other addresses than apps use. */
let upstream: RecordingUpstream;
let shop: RecordingUpstream;
let signIn: Awaited<ReturnType<typeof startSignIn>>;
let world: ProxyWorld;

const open = { upstream: 'back', anonymous: 'serve' };
const ROUTES = [
  { ...open, match: 'GET /api/courses/mine', rewrite: '/v2/my' },
  { ...open, match: 'GET|POST /api/courses/**', rewrite: '/v2/courses/**', rewriteLinks: true },
  { ...open, match: 'GET /api/people/*', rewrite: '/v2/users/*' },
  { ...open, match: 'GET /api/staff/*', rewrite: '/v2/users/*' },
  { ...open, match: 'POST /api/orders', rewrite: '/v2/orders' },
  { ...open, match: 'GET /api/everything/**', upstream: 'all', rewrite: '/**', rewriteLinks: true },
  { ...open, match: 'GET /plain/**' },
  { ...open, match: 'GET /api/me', rewrite: '/v2/members/{member.id}', anonymous: 'refuse' },
  { ...open, match: 'GET /api/shop/**', upstream: 'shop', rewrite: '/v2/**' },
  { ...open, match: 'POST /api/o/*', rewrite: '/v2/orders/*' },
];

beforeAll(async () => {
  [upstream, shop, signIn] = await Promise.all([startRecordingUpstream(), startRecordingUpstream(), startSignIn()]);
  world = await startProxyWorld({
    upstream: upstream.url,
    config: {
      upstreams: {
        school: { url: signIn.url },
        back: { url: `${upstream.url}/base`, aliases: ['app.internal'] },
        all: { url: `${upstream.url}/base` },
        shop: { url: shop.url },
      },
      routes: ROUTES,
    },
  });
});
afterAll(async () => {
  await world.close();
  await Promise.all([upstream.close(), shop.close(), signIn.close()]);
});

const bearer = () => ({ authorization: `Bearer ${world.token}` });

/** What the gate makes of a field of the backend's response. Addresses are written with the names of the servers. */
async function field(path: string, name: string, value: string, headers = {}, method = 'GET') {
  upstream.script((_request, response) => {
    response
      .writeHead(name === 'location' ? 302 : 200, {
        [name]: value.replaceAll('BACK', upstream.url).replaceAll('SHOP', shop.url).replaceAll('PUBLIC', world.origin),
      })
      .end();
  });
  const answer = await rawRequest(world.origin, { path, method, headers: { host: world.host, ...headers } });
  return String(answer.headers[name]).replaceAll(world.origin, 'PUBLIC');
}

describe('on a route with rewrite', () => {
  it.each([
    ['</base/v2/courses?page=2>; rel="next"', '</api/courses?page=2>; rel="next"'],
    ['<BACK/base/v2/courses?a=%2f&b>; rel=next', '<PUBLIC/api/courses?a=%2f&b>; rel=next'],
    ['<https://app.internal/base/v2/courses/7#x>;rel=item', '<PUBLIC/api/courses/7#x>;rel=item'],
    ['<//app.internal/base/v2/courses/7>; rel=item', '<PUBLIC/api/courses/7>; rel=item'],
    ['<PUBLIC/base/v2/courses/7>; rel=item', '<PUBLIC/api/courses/7>; rel=item'],
    ['< /base/v2/courses/7 >; rel=item', '</api/courses/7>; rel=item'],
    // The client finds these by itself.
    ['<?page=2>; rel=next', '<?page=2>; rel=next'],
    ['<courses/7>; rel=item', '<courses/7>; rel=item'],
    ['<>; rel=self', '<>; rel=self'],
    // The upstream means these in relation to its own address.
    ['<users/3>; rel=author', '</api/people/3>; rel=author'],
    ['<pages/3>; rel=help', '</v2/pages/3>; rel=help'],
    // Foreign hosts, and what is no address on the web.
    ['<https://other.example/base/v2/courses/7>; rel=x', '<https://other.example/base/v2/courses/7>; rel=x'],
    ['<https://app.internal.example/v2/courses/7>; rel=x', '<https://app.internal.example/v2/courses/7>; rel=x'],
    ['<mailto:a@b.example>; rel=author', '<mailto:a@b.example>; rel=author'],
    // Without a route that leads there, only the host and the prefix are ours.
    ['<BACK/base/v2/forums/1>; rel=x', '<PUBLIC/v2/forums/1>; rel=x'],
    ['</base//v2/courses>; rel=x', '<PUBLIC//v2/courses>; rel=x'],
    // Another upstream's routes are inverted by its own addresses only.
    ['<SHOP/v2/items/1>; rel=x', '<PUBLIC/api/shop/items/1>; rel=x'],
    ['<SHOP/v2/courses/1>; rel=x', '<PUBLIC/api/shop/courses/1>; rel=x'],
    // Several values, with parameters kept byte for byte.
    [
      '</base/v2/courses?page=1>; rel="prev"; title="a, </base/v2/courses>; \\"<b>\\"", </base/v2/users/3>;rel=a , <https://cdn.example/x,y>; rel=preload',
      '</api/courses?page=1>; rel="prev"; title="a, </base/v2/courses>; \\"<b>\\"", </api/people/3>;rel=a , <https://cdn.example/x,y>; rel=preload',
    ],
    ['</base/v2/courses/1>; title="no end, </base/v2/courses>', '</api/courses/1>; title="no end, </base/v2/courses>'],
    ['</base/v2/courses/1>; rel=a, </base/v2/courses', '</api/courses/1>; rel=a, </base/v2/courses'],
  ])('Link: %s becomes %s', async (given, expected) => {
    expect(await field('/api/courses?page=1', 'link', given)).toBe(expected);
  });

  it.each([
    ['location', '/base/v2/courses/7?x#y', '/api/courses/7?x#y'],
    ['location', 'BACK/base/v2/courses/7', 'PUBLIC/api/courses/7'],
    ['content-location', '/base/v2/courses/7', '/api/courses/7'],
    ['content-location', 'http://app.internal/base/v2/users/7', 'PUBLIC/api/people/7'],
    ['refresh', '5; url=/base/v2/courses/7', '5; url=/api/courses/7'],
  ])('%s: %s becomes %s', async (name, given, expected) => {
    expect(await field('/api/courses/1', name, given)).toBe(expected);
  });

  it('keeps Link as it was on a route without rewrite, except the upstream’s own address', async () => {
    expect(await field('/plain/x', 'link', '</base/v2/courses>; rel=a, <BACK/base/plain/y>; rel=b, <z>; rel=c')).toBe(
      '</v2/courses>; rel=a, <PUBLIC/plain/y>; rel=b, <z>; rel=c',
    );
  });
});

describe('of several routes that lead to one address', () => {
  it('the one that was asked comes first, then the first in the configuration', async () => {
    expect(await field('/api/staff/1', 'link', '</base/v2/users/2>; rel=next')).toBe('</api/staff/2>; rel=next');
    expect(await field('/api/people/1', 'link', '</base/v2/users/2>; rel=next')).toBe('</api/people/2>; rel=next');
    expect(await field('/api/courses/1', 'link', '</base/v2/users/2>; rel=next')).toBe('</api/people/2>; rel=next');
    expect(await field('/api/courses/1', 'link', '</base/plain/2>; rel=next')).toBe('</plain/2>; rel=next');
  });

  it('one counts only if its public address leads exactly there', async () => {
    // GET /api/courses/mine is another route's, which leads to /v2/my.
    expect(await field('/api/courses/1', 'link', '</base/v2/courses/mine>; rel=x')).toBe('</v2/courses/mine>; rel=x');
    expect(await field('/api/courses/1', 'link', '</base/v2/my>; rel=x')).toBe('</api/courses/mine>; rel=x');
  });

  it('one that takes the method of the request counts as well', async () => {
    expect(await field('/api/orders', 'location', '/base/v2/orders/1', {}, 'POST')).toBe('/api/o/1');
    expect(await field('/api/courses', 'location', '/base/v2/orders/1', {}, 'GET')).toBe('/v2/orders/1');
  });

  it('the member’s own counts for the member alone', async () => {
    const link = '</base/v2/members/m-1>; rel=me, </base/v2/members/m-2>; rel=friend';
    expect(await field('/api/people/1', 'link', link, bearer())).toBe(
      '</api/me>; rel=me, </v2/members/m-2>; rel=friend',
    );
    expect(await field('/api/people/1', 'link', link)).toBe('</v2/members/m-1>; rel=me, </v2/members/m-2>; rel=friend');
    expect(
      await field('/api/me', 'link', '<?page=2>; rel=next, </base/v2/members/m-1?page=2>; rel=next', bearer()),
    ).toBe('<?page=2>; rel=next, </api/me?page=2>; rel=next');
  });
});

const SENT = String.raw`{"_links" : {"next":[{"href":"http:\/\/app.internal\/base\/v2\/courses?page=2"}],
  "self": {"href":"BACK/base/v2/courses/{id}{?page}", "templated": true}, "author":"/base/v2/users/3"},
 "next":"/base/v2/courses?page=2&q=\u00e4\"" , "top": ["/base/v2/courses" ,"PUBLIC/base/v2/courses/7"],
 "/base/v2/courses": 1, "BACK/base/v2/courses/7" : "/base/v2/courses/7",
 "text": "see /base/v2/courses", "html": "<a href=\"/base/v2/courses\">", "twice": "/base/v2/courses /base/v2/courses",
 "other": "https://other.example/base/v2/courses", "slash": "/", "double": "//app.internal/base/v2/courses", "h": "h", "empty": "",
 "elsewhere": "/base/v3/x", "unrouted": "BACK/elsewhere/x", "escape": "\\", "broken": "/base/v2/courses/\q"}`;
const RECEIVED = SENT.replace(String.raw`http:\/\/app.internal\/base\/v2\/courses?page=2`, 'SCHEMED?page=2')
  .replace('"BACK/base/v2/courses/{id}{?page}"', '"PUBLIC/api/courses/{id}{?page}"')
  .replace('"/base/v2/users/3"', '"/api/people/3"')
  .replace(String.raw`"/base/v2/courses?page=2&q=\u00e4\""`, String.raw`"/api/courses?page=2&q=ä\""`)
  .replace('["/base/v2/courses" ,"PUBLIC/base/v2/courses/7"]', '["/api/courses" ,"PUBLIC/api/courses/7"]')
  .replace('"/base/v2/courses/7",', '"/api/courses/7",');

const named = (text: string) =>
  text
    .replaceAll('SCHEMED', `${world.origin}/api/courses`.replaceAll('/', '\\/'))
    .replaceAll('BACK', upstream.url)
    .replaceAll('PUBLIC', world.origin);

describe('JSON on a route with rewriteLinks', () => {
  const fields = {
    'content-type': 'application/hal+json; charset=UTF-8',
    etag: '"1"',
    digest: 'sha-256=x',
    'repr-digest': 'sha-256=:x:',
    'content-digest': 'sha-256=:x:',
    'content-md5': 'x',
    'accept-ranges': 'bytes',
  };
  beforeEach(() =>
    upstream.script((request, response) => {
      if (request.headers['if-none-match'] !== undefined) {
        response.writeHead(304, { etag: '"1"' }).end();
        return;
      }
      const body = Buffer.from(named(SENT));
      response.writeHead(200, { ...fields, 'content-length': body.length });
      response.end(request.method === 'HEAD' ? undefined : body);
    }),
  );
  const ask = (path: string, headers = {}, method = 'GET') => rawRequest(world.origin, { path, method, headers });

  it('has public addresses in strings that are nothing but a link, and is the same otherwise', async () => {
    expect((await ask('/api/courses?page=1')).text).toBe(named(RECEIVED));
  });

  it('may be one string, whose link is only known when the response ends', async () => {
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('"/base/v2/courses/7"');
    });
    expect((await ask('/api/courses/7')).text).toBe('"/api/courses/7"');
  });

  it('is not touched without the key', async () => {
    const answer = await ask('/api/people/1');
    expect(answer.text).toBe(named(SENT));
    expect(answer.headers).toMatchObject({ etag: '"1"', 'content-length': String(Buffer.byteLength(named(SENT))) });
  });

  it('has no field about the bytes of the original, by GET and HEAD', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await ask('/api/courses', {}, method);
      expect(headers.etag).toBe('W/"1"');
      for (const name of ['content-length', 'digest', 'repr-digest', 'content-digest', 'content-md5', 'accept-ranges'])
        expect(headers).not.toHaveProperty(name);
    }
  });

  it('is fetched whole and uncompressed, and its tag works in conditional requests', async () => {
    await ask('/api/courses', {
      range: 'bytes=0-1',
      'if-range': '"1"',
      'accept-encoding': 'gzip',
      'if-match': 'W/"1"',
    });
    const { last } = upstream;
    expect([last().values('range'), last().values('if-range')]).toEqual([[], []]);
    expect([last().values('accept-encoding'), last().values('if-match')]).toEqual([['identity'], ['"1"']]);
    expect((await ask('/api/courses', { 'if-none-match': 'W/"1"' })).headers.etag).toBe('W/"1"');
    expect((await ask('/api/courses', { 'if-none-match': '"1"' })).headers.etag).toBe('"1"');
    await ask('/api/people/1', { range: 'bytes=0-1', 'accept-encoding': 'gzip' });
    expect([last().values('range'), last().values('accept-encoding')]).toEqual([['bytes=0-1'], ['gzip']]);
  });

  it('takes no path for a link that only a rewrite of the whole site covers', async () => {
    const text = '["/shrug","/v2/courses","BACK/base/shrug"]';
    upstream.script((_request, response) => void response.writeHead(200, fields).end(named(text)));
    expect((await ask('/api/everything/x')).text).toBe(named('["/shrug","/v2/courses","PUBLIC/api/everything/shrug"]'));
  });

  it.each([
    ['text/plain', {}],
    ['application/json; charset=iso-8859-1', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
    ['application/x-ndjson', {}],
  ])('passes as it is with the type %s and %o', async (type, coding) => {
    const body = named(SENT);
    upstream.script(
      (_request, response) =>
        void response
          .writeHead(200, { ...fields, 'content-type': type, ...coding, 'content-length': Buffer.byteLength(body) })
          .end(body),
    );
    const answer = await ask('/api/courses');
    expect(answer.text).toBe(body);
    expect(answer.headers).toMatchObject({
      etag: '"1"',
      digest: 'sha-256=x',
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  it('may be larger than memory should be: only one string is held at a time', async () => {
    const item = JSON.stringify({ href: `${upstream.url}/base/v2/courses/7`, text: 'x'.repeat(1000) });
    upstream.script((_request, response) => {
      response.writeHead(200, fields);
      response.end(`[${Array.from({ length: 1000 }, () => item).join(',')}]`);
    });
    const links = JSON.parse((await ask('/api/courses')).text) as { href: string }[];
    expect(new Set(links.map(({ href }) => href))).toEqual(new Set([`${world.origin}/api/courses/7`]));
    expect(links).toHaveLength(1000);
  });
});

describe('the map of JSON text', () => {
  const map = () => {
    const found = mapJsonLinks(
      { status: 200, raw: ['content-type', 'application/json'], condition: undefined },
      [],
      (text) => (text.startsWith('/in') ? text.replace('/in', '/out') : undefined),
    );
    if (found === undefined) throw new Error('There is no map.');
    return found;
  };
  const through = (chunks: readonly Buffer[]) => {
    const { push, end } = bound(map());
    return Buffer.concat([...chunks.map(push), end()]).toString('utf8');
  };
  const bound = (of: ReturnType<typeof map>) => ({ push: (chunk: Buffer) => of.push(chunk), end: () => of.end() });

  it.each([
    [['Content-Type', 'application/json', 'Content-Encoding', 'identity'], true],
    [['Content-Type', 'application/json', 'Content-Encoding', 'br'], false],
    [['Content-Type', 'application/json', 'content-type', 'application/json'], false],
    [[], false],
  ])('is made for %j: %s', (raw, isMade) => {
    const made = mapJsonLinks({ status: 200, raw, condition: undefined }, [], () => undefined);
    expect(made !== undefined).toBe(isMade);
  });

  it('is the same wherever the text is cut', () => {
    const text = Buffer.from(
      String.raw`{"/in/a" : "/in/a" ,"b":["/in/é","\/in\/\\","/in\"","",{"h":"/in"}],"c":"\\\"/in","d":"/in"  }`,
    );
    const expected = String.raw`{"/in/a" : "/out/a" ,"b":["/out/é","\/out\/\\","/out\"","",{"h":"/out"}],"c":"\\\"/in","d":"/out"  }`;
    expect(through([text])).toBe(expected);
    for (let at = 0; at <= text.length; at += 1)
      expect(through([text.subarray(0, at), text.subarray(at)])).toBe(expected);
    expect(through(Array.from(text, (_, at) => text.subarray(at, at + 1)))).toBe(expected);
  });

  it('ends with what it holds, even if the text does not end as JSON does', () => {
    for (const [text, expected] of [
      ['"/in', '"/in'],
      ['"/in"', '"/out"'],
      ['"/in"  ', '"/out"  '],
      ['{"/in" :', '{"/in" :'],
      ['"', '"'],
      ['"\\', '"\\'],
    ] as const)
      expect(through([Buffer.from(text)])).toBe(expected);
  });

  it('keeps a string that is longer than any address, and takes linear time for every text', async () => {
    const long = `"/in${'x'.repeat(9000)}"`;
    expect(through([Buffer.from(`[${long},"/in"]`)])).toBe(`[${long},"/out"]`);
    const size = 1 << 16;
    for (const unit of ['\\', '"', '"/', '"/in" ', ' ', '"/in', '"h', '/', '"/in":'])
      for (const start of ['', '"/in', '"/in"']) {
        const text = Buffer.from(start + unit.repeat(size / unit.length));
        const chunks = Array.from({ length: 64 }, (_, at) => text.subarray(at * (size / 64), (at + 1) * (size / 64)));
        // Quadratic time would be several seconds.
        expect(await leastCost(1000, () => through(chunks))).toBeLessThan(1000);
      }
  });
});
