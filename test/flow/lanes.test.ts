import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** Profile B in front of a recording upstream, so that a request without a token gets as far as it can. */
describe('the two lanes of a running gate', () => {
  let world: World;
  let upstream: RecordingUpstream;
  const start = async (profile = 'B') => {
    upstream = await startRecordingUpstream();
    world = await startWorld({ profile, overrides: { upstreams: { school: { url: upstream.url } } } });
  };
  afterEach(async () => {
    await world.close();
    await upstream.close();
  });

  it.each([
    ['/api/v1/courses', 400],
    ['/api/v1/whoami', 400],
    ['/api/oauth/token', 400],
    ['/oauth/authorize', 400],
    ['/api/v1/COURSES', 404],
  ])('does not let an upgrade reach %s', async (path, refused) => {
    await start();
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}${path}`, {
      headers: { 'x-member-id': 'm-1001' },
    });
    const status = await new Promise((resolve) => {
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.once('error', () => resolve('closed'));
    });
    expect(status).toBe(refused);
    expect(upstream.requests).toHaveLength(0);
  });

  it('never passes the address of the Account API to the site in profile A, in any spelling and by any method', async () => {
    await start('A');
    for (const path of ['/account/graphql', '/account/graphql/', '/Account/GraphQL', '/account/graphql?query=x']) {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
        const answer = await fetch(world.origin + path, { method });
        await answer.arrayBuffer();
        expect([method, path, answer.status < 400]).toEqual([method, path, false]);
      }
    }
    expect(upstream.requests).toHaveLength(0);
  });

  it('opens a WebSocket of the site without identity headers from the client', async () => {
    await start();
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/ws`, { headers: { X_Member_Id: 'm-1001' } });
    await new Promise((resolve) => socket.once('error', resolve));
    expect(upstream.last().target).toBe('/ws');
    expect(upstream.last().rawHeaders.join('\n')).not.toContain('m-1001');
  });

  it.each(['/api/v1/courses', '/a-page-of-the-site'])('never completes a truncated response of %s', async (path) => {
    await start();
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('half of it', () => response.destroy());
    });
    const answer = await fetch(world.origin + path);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    expect((await fetch(`${world.origin}/.well-known/jwks.json`)).status).toBe(200);
  });

  it.each(['/api/v1/courses', '/a-page-of-the-site'])(
    'responds with 502 for %s when the upstream is down',
    async (path) => {
      await start();
      await upstream.close();
      const answer = await fetch(world.origin + path);
      expect(answer.status).toBe(502);
      expect(await answer.json()).toMatchObject({ status: 502, code: 'upstream_unreachable' });
    },
  );
});
