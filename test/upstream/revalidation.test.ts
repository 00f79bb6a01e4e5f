import { expect, it } from 'vitest';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate } from './gate.ts';

it('sends each conditional request to the upstream, so that a cached copy is confirmed only to its own reader', async () => {
  // A backend whose representations depend on the requesting member.
  const upstream = await startRecordingUpstream((request, response) => {
    const tag = `"${request.headers['x-member-id'] ?? 'nobody'}"`;
    const same = request.headers['if-none-match'] === tag;
    response.writeHead(same ? 304 : 200, { etag: tag, 'cache-control': 'public, max-age=60' });
    response.end(same ? undefined : `for ${tag}`);
  });
  const gate = await startGate(upstream.url);
  const ask = async (path: string, tag?: string) => {
    const asked = upstream.requests.length;
    const answer = await fetch(gate.url + path, tag === undefined ? {} : { headers: { 'if-none-match': tag } });
    expect(upstream.requests.length).toBe(asked + 1);
    expect(upstream.last().values('if-none-match')).toEqual(tag === undefined ? [] : [tag]);
    return [answer.status, await answer.text(), answer.headers.get('etag'), answer.headers.get('cache-control')];
  };
  const [, , members = ''] = await ask('/api/x');
  expect(await ask('/api/x', String(members))).toEqual([304, '', '"m-1"', 'private, no-store']);
  expect(await ask('/open/x', String(members))).toEqual([200, 'for "nobody"', '"nobody"', 'public, max-age=60']);
  expect(await ask('/x', String(members))).toEqual([200, 'for "nobody"', '"nobody"', 'public, max-age=60']);
  expect(await ask('/api/x', '"nobody"')).toEqual([200, 'for "m-1"', '"m-1"', 'private, no-store']);
  await gate.close();
  await upstream.close();
});
