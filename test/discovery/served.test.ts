import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each([
  { path: '/openapi.json', type: 'application/json' },
  { path: '/auth.md', type: 'text/markdown; charset=utf-8' },
])('$path', ({ path, type }) => {
  let world: World;
  let school: RecordingUpstream;
  beforeAll(async () => {
    school = await startRecordingUpstream();
    world = await startWorld({ profile: 'A', overrides: { upstreams: { school: { url: school.url } } } });
  });
  afterAll(async () => {
    await world.close();
    await school.close();
  });

  it('is public, readable by all origins, and cacheable', async () => {
    const answer = await fetch(world.origin + path, { headers: { authorization: 'Bearer none-of-ours' } });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
      link: '</openapi.json>; rel="service-desc"; type="application/json", </auth.md>; rel="service-doc"; type="text/markdown"',
    });
    expect(answer.headers.get('vary')).toBe('Accept, Sec-Fetch-Mode');
    expect(answer.headers.has('set-cookie')).toBe(false);
  });

  it('answers HEAD like GET without a body', async () => {
    const get = await rawRequest(world.origin, { path });
    const head = await rawRequest(world.origin, { path, method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    for (const name of ['content-length', 'content-type', 'etag', 'link', 'cache-control']) {
      expect({ name, value: head.headers[name] }).toEqual({ name, value: get.headers[name] });
    }
  });

  it.each(['its tag', 'its tag as a weak one', 'a list that contains its tag', '*'])(
    'returns 304 for If-None-Match with %s',
    async (kind) => {
      const etag = (await fetch(world.origin + path)).headers.get('etag') ?? '';
      const condition = {
        'its tag': etag,
        'its tag as a weak one': `W/${etag}`,
        'a list that contains its tag': `"x", ${etag}`,
        '*': '*',
      }[kind];
      for (const method of ['GET', 'HEAD']) {
        const answer = await rawRequest(world.origin, { path, method, headers: { 'If-None-Match': condition ?? '' } });
        expect(answer).toMatchObject({ status: 304, text: '' });
        expect(answer.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=300' });
        expect(answer.headers['content-type']).toBeUndefined();
      }
    },
  );

  it('returns the full document for another tag', async () => {
    const answer = await fetch(world.origin + path, { headers: { 'If-None-Match': '"another"' } });
    expect(answer.status).toBe(200);
    expect((await answer.text()).length).toBeGreaterThan(1000);
  });

  it.each(['POST', 'PUT', 'DELETE'])('does not accept %s', async (method) => {
    const answer = await fetch(world.origin + path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    expect(await answer.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it('does not depend on the host and scheme of the request', async () => {
    const plain = await rawRequest(world.origin, { path });
    const forged = await rawRequest(world.origin, {
      path,
      headers: { Host: 'evil.test', 'X-Forwarded-Proto': 'https' },
    });
    expect(forged.text).toBe(plain.text);
    expect(plain.text).not.toContain(school.url);
    expect(plain.text).not.toContain(world.data);
  });

  it('is never forwarded to the school, in any spelling', async () => {
    const before = school.requests.length;
    for (const spelled of [
      path,
      path.toUpperCase(),
      `${path}/`,
      path.replace('a', '%61').replace('o', '%6F'),
      `${path}?x=1`,
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS'])
        await rawRequest(world.origin, { path: spelled, method });
    }
    expect(school.requests.slice(before).map(({ target }) => target)).toEqual([]);
  });
});
