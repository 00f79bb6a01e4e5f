import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../support/app.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

/**
 * A backend that drops, folds or decodes characters once more must not see a different request from the one the gate
 * authorized.
 */
let world: ProxyWorld;
let upstream: RecordingUpstream;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  const routes = [
    { match: 'GET /kurse/**', upstream: 'back' },
    { match: 'GET /mine', upstream: 'back', query: { user_id: '{member.id}' } },
  ];
  world = await startProxyWorld({ upstream: upstream.url, config: { routes } });
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

const ask = async (path: string, headers: Record<string, string> = bearer(world.token)) => {
  const before = upstream.requests.length;
  const { status, text } = await rawRequest(world.origin, { path, headers });
  return { status, text, seen: upstream.requests.slice(before).map(({ target }) => target) };
};
const encoded = (codePoint: number) => encodeURIComponent(String.fromCodePoint(codePoint));

/** Format, default-ignorable and bidirectional control characters, separators, noncharacters, private use. */
const INVISIBLE = [
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180b, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffe, 0xe000],
  ...[0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0x10ffff],
];
/** Lookalikes of `/ . % \ ; ? # & =`, and of other ASCII punctuation and the space. */
const SIGNS = [
  ...[0xff0f, 0x2024, 0xff0e, 0xff05, 0xfe6a, 0xff3c, 0xfe68, 0xff1b, 0x37e, 0xff1f, 0xff03, 0xff06, 0xff1d, 0x2260],
  ...[0x2025, 0x2026, 0x2100, 0x2474, 0xa0, 0x3000, 0xfe64, 0xff3b, 0x203c],
];

describe('on a protected route', () => {
  it.each(
    [...INVISIBLE, ...SIGNS].map((codePoint) => [`U+${codePoint.toString(16).toUpperCase()}`, codePoint] as const),
  )('a path with %s is refused', async (_name, codePoint) => {
    const character = encoded(codePoint);
    for (const path of [`/kurse/a${character}b`, `/kurse/${character}1`, `/kurse/a${character}`]) {
      const { status, seen } = await ask(path);
      expect([status, seen]).toEqual([400, []]);
    }
  });

  it.each(['/kurse/%C0%AE', '/kurse/%E0%80%AF', '/kurse/%ED%A0%80', '/kurse/%FF', '/kurse/%F4%90%80%80', '/kurse/%C2'])(
    'the path %s, which is not UTF-8, is refused',
    async (path) => {
      expect(await ask(path)).toMatchObject({ status: 400, seen: [] });
    },
  );

  it.each([
    '/kurse/gr%C3%B6%C3%9Fe',
    '/kurse/%E6%95%B0%E5%AD%A6',
    '/kurse/%D8%B1%D9%8A%D8%A7%D8%B6',
    '/kurse/a%20b',
    '/kurse/cafe%CC%81',
    '/kurse/%F0%9F%93%9A',
    '/kurse/a%5Bb%5D',
    '/kurse/100%25',
  ])('the path %s is accepted', async (path) => {
    expect(await ask(path)).toMatchObject({ status: 200, seen: [path] });
  });

  it.each(
    [
      ['user_id%3D1002=1', 'user_id%3D1002', 'user_id%253D1002=1', 'user_id%25253D1002=1', 'a%26user_id=1'],
      ['a%3Buser_id=1', 'a=1&b%26user_id%3D1=2', 'a=1;b%3D=2', 'filter%5Ba%3Db%5D=1', '%3D', '%26'],
    ].flat(),
  )('the query ?%s is refused', async (query) => {
    for (const path of ['/kurse/x', '/mine']) {
      const { status, text, seen } = await ask(`${path}?${query}`);
      expect([status, seen]).toEqual([400, []]);
      expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', title: expect.stringMatching(/encoded/) });
    }
  });

  it.each([
    ...['filter[x]=1', 'filter%5Bx%5D=1', 'filter%5bx%5d%5B%5D=1', 'a%2Eb=1', 'a+b=1', 'a%20b=1', '$filter=x', 'a==b'],
    ...[
      'q=R%26D',
      'next=%2Fa%3Fb%3Dc%26d',
      'q=a%3Bb',
      'q=100%25',
      'q=%E2%80%8B',
      '%E9=1',
      'a%25b=1',
      '%7B%22a%22%3A1%7D',
    ],
  ])('the query ?%s is accepted', async (query) => {
    expect(await ask(`/kurse/x?${query}`)).toMatchObject({ status: 200, seen: [`/kurse/x?${query}`] });
  });

  it.each(['a=1%26user_id%3D1002', 'a=1%2526user_id%253D1002', 'a=1%3Buser_id=1002', 'a=%26USER-ID'])(
    'that fills in the member’s id, ?%s is refused, because its value contains the parameter’s name',
    async (query) => {
      expect(await ask(`/mine?${query}`)).toMatchObject({ status: 400, seen: [] });
      expect((await ask(`/kurse/x?${query}`)).status).toBe(200);
    },
  );

  it('a missing token is reported before an ambiguous target', async () => {
    expect((await ask('/kurse/%E2%80%8B1', {})).status).toBe(401);
    expect((await ask('/kurse/x?a%3Db', {})).status).toBe(401);
  });
});

describe('on the site', () => {
  it.each([
    '/seite/%E2%80%8Cx',
    '/seite/a%C2%ADb',
    '/seite/%E2%9D%A4%EF%B8%8F',
    '/seite/100%EF%BC%85',
    '/seite?a%3Db=1',
  ])('%s is forwarded unchanged', async (path) => {
    expect(await ask(path, {})).toMatchObject({ status: 200, seen: [path] });
  });

  it.each([
    ...['/kur%E2%80%8Bse/1', '/kurse%C2%AD/1', '/%EF%BB%BFkurse/1', '/%F3%A0%81%81kurse/1', '/KUR%E2%80%8Bse/1'],
    ...['/k%E2%80%AEurse/1', '/min%E2%81%A0e', '/kurse%E2%80%A9'],
  ])('%s does not bypass a route', async (path) => {
    for (const headers of [{}, bearer(world.token)])
      expect(await ask(path, headers)).toMatchObject({ status: 404, seen: [] });
  });

  it.each([
    ...['/seite/.%E2%80%8B./kurse/1', '/seite/%E2%80%8B', '/%E2%80%8B/kurse/1', '/%EF%BB%BF', '/seite/..%C2%AD/kurse'],
    ...[
      '/seite/%EF%BC%852e%EF%BC%852e/kurse',
      '/seite/%25%E2%80%8B2e/kurse',
      '/seite/x%EF%BC%852Fkurse',
      '/x.%E2%80%8B',
    ],
  ])('%s is refused, because it becomes another path once the invisible character is removed', async (path) => {
    expect(await ask(path, {})).toMatchObject({ status: 400, seen: [] });
  });
});
