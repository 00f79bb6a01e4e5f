import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillTrick, TRICKS } from '../support/path-tricks.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';

let upstream: ScriptedUpstream;
let canary: Server;
let canaryPort: number;
let contacts = 0;
let gate: ProxyWorld;
let closed: ProxyWorld;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  canary = createServer((socket) => {
    contacts += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryPort = (canary.address() as { port: number }).port;
  gate = await startProxyWorld({ upstream: upstream.url });
  closed = await startProxyWorld({ upstream: upstream.url, site: false });
});
afterAll(async () => {
  expect(contacts, 'B057: nobody but the upstream is asked').toBe(0);
  await gate.close();
  await closed.close();
  await upstream.close();
  await new Promise((resolve) => canary.close(resolve));
});

describe.each([
  ['the protected lane without a token', '/member', '/public', 2],
  ['the protected lane with a token', '/member', '/public', 3],
  ['the site', '/pages', '/pages', 4],
] as const)('a tricky path on %s', (_lane, place, open, column) => {
  const fill = (text: string) => fillTrick(text, { place, open, host: gate.host, canary: `127.0.0.1:${canaryPort}` });

  it.each(TRICKS.map((trick) => [trick[0], trick[1].slice(0, 60), trick] as const))(
    '%s: %s',
    async (_check, _what, trick) => {
      const expected = trick[column] ?? trick[2];
      const authorization = column === 3 ? `Authorization: Bearer ${gate.token}\r\n` : '';
      const answer = await gate.raw(
        `GET ${fill(trick[1])} HTTP/1.1\r\nHost: ${gate.host}\r\n${authorization}Connection: close\r\n\r\n`,
      );
      const seen = upstream.take().map(({ target }) => target);
      if (typeof expected === 'number') expect([Number(answer.slice(9, 12)), seen]).toEqual([expected, []]);
      else expect([Number(answer.slice(9, 12)), seen]).toEqual([200, [fill(expected)]]);
      expect(answer.match(/HTTP\/1\.1 \d\d\d /g)).toHaveLength(1);
    },
  );
});

describe('B060: a path without a route', () => {
  it.each(['/', '/x', '/pages/x', '/Public/x', '/publicx', '/metrics', '/livez', '/debug'])(
    'is not served: %s',
    async (path) => {
      const answer = await closed.raw(`GET ${path} HTTP/1.1\r\nHost: ${closed.host}\r\nConnection: close\r\n\r\n`);
      expect([Number(answer.slice(9, 12)), upstream.take()]).toEqual([404, []]);
    },
  );
});

describe('B061: an endpoint of the gate', () => {
  const tricked = (path: string) => [
    ['twice a slash', `/${path}`],
    ['a dot segment', `/.${path}`],
    ['a way back', `/public/..${path}`],
    ['a way back, encoded', `/public/%2e%2e${path}`],
    ['a parameter', `${path};x`],
    ['an encoded slash', path.replace(/\/(?=[^/]*$)/, '%2f')],
    ['a backslash', path.replace(/\/(?=[^/]*$)/, '\\')],
    ['a dot behind it', `${path}.`],
    ['a space behind it', `${path}%20`],
    ['NUL behind it', `${path}%00`],
    ['a fragment', `${path}#x`],
    ['an encoded letter', `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`],
    ['an encoded letter twice', `/%25${path.charCodeAt(1).toString(16)}${path.slice(2)}`],
    ['capitals', path.toUpperCase()],
    ['a slash behind it', `${path}/`],
    ['a query', `${path}?/public/x`],
    ['another origin', `http://evil.test${path}`],
  ];
  const doors = ['/api/oauth/token', '/api/oauth/register', '/oauth/authorize', '/.well-known/openid-configuration'];
  it.each(doors.flatMap((door) => tricked(door).map(([what, target]) => [door, what, target] as const)))(
    'such as %s with %s never reaches the upstream',
    async (_door, _what, target) => {
      for (const method of ['GET', 'POST']) {
        const answer = await gate.raw(
          `${method} ${target} HTTP/1.1\r\nHost: ${gate.host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        );
        expect(answer).toMatch(/^HTTP\/1\.1 \d\d\d /);
        expect(upstream.take()).toEqual([]);
      }
    },
  );

  it('for operators is not on the public listener', async () => {
    for (const path of ['/metrics', '/livez', '/readyz', '/keys', '/clients']) {
      const answer = await gate.raw(`GET ${path} HTTP/1.1\r\nHost: ${gate.host}\r\nConnection: close\r\n\r\n`);
      // The path belongs to the site, like any other.
      expect(answer).toMatch(/\r\n\r\nok$/);
      expect(upstream.take().map(({ target }) => target)).toEqual([path]);
    }
  });
});

it.each(['evilHOST', 'HOST.evil.test', 'evil.test', 'HOST0'])('B062: the host %s has no effect', async (host) => {
  const named = host.replace('HOST', gate.host.split(':')[0] ?? '');
  const ask = (path: string) => gate.raw(`GET ${path} HTTP/1.1\r\nHost: ${named}\r\nConnection: close\r\n\r\n`);
  expect((await ask('/member/x')).slice(9, 12)).toBe('401');
  expect(upstream.take()).toEqual([]);
  for (const path of ['/public/x', '/pages/x']) {
    expect((await ask(path)).slice(9, 12)).toBe('200');
    const [seen] = upstream.take();
    expect(seen?.headers.filter(([name]) => name.toLowerCase() === 'host').map(([, value]) => value)).toEqual([
      gate.host,
    ]);
  }
});
