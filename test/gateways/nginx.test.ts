import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nginx, nginxMainline } from './kinds/nginx.ts';
import { ask, send } from './support/ask.ts';
import { describeKinds, isInstalled } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script((_request, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
});
afterAll(() => world.close());

const isOld = isInstalled(nginx) && /nginx\/1\.(1\d|2[0-2])\./.test(versionOf(nginx.program() ?? ''));

function versionOf(program: string): string {
  return execFileSync('sh', ['-c', '"$0" -v 2>&1', program]).toString();
}

describe.skipIf(!isOld)('nginx before 1.23', () => {
  it('answers 503 to everything if backends read plain fields, and says why', async () => {
    const gateway = await world.gateway({ ...nginxMainline, start: nginx.start });
    try {
      for (const target of ['/pages/x', '/member/x', '/public/x', '/oauth/apps', '/sorry.html']) {
        const { status, body } = await ask(world.port, { host: world.host, target });
        expect([target, status, body]).toEqual([target, 503, 'coursegate.conf needs nginx 1.23 or newer.\n']);
      }
      expect(world.backend.take()).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});

describeKinds([nginx, nginxMainline], 'answers that only $name gives', (kind) => {
  it('are like those of the gate, for a body that is too large and a gate that is down', async () => {
    const gateway = await world.gateway(kind, { unanswered: true });
    try {
      const head = (line: string, ...fields: string[]) => [line, `Host: ${world.host}`, ...fields, '', ''].join('\r\n');
      const large = ['Content-Type: application/json', 'Content-Length: 20000000'];
      for (const [bytes, status, code] of [
        [head('POST /member/x HTTP/1.1', ...large), 413, 'payload_too_large'],
        [head('GET /member/x HTTP/1.1'), 503, 'store_unavailable'],
      ] as const) {
        const answer = await send(world.port, bytes, 500);
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(answer).toMatch(/\r\nContent-Type: application\/problem\+json\r\n/i);
        expect(answer).toMatch(/\r\naccess-control-allow-origin: \*\r\n/i);
        expect(/\r\nRetry-After: 5\r\n/.test(answer)).toBe(status === 503);
        expect(answer).toContain(`"code":"${code}"`);
      }
      expect(world.backend.take()).toEqual([]);
    } finally {
      await gateway.close();
    }
  });
});

describeKinds([nginx, nginxMainline], 'the settings of the site in $name', (kind) => {
  it.each(['underscores_in_headers on;', 'ignore_invalid_headers off;'])(
    'cannot have %s without an error',
    async (line) => {
      const change = (snippet: string) => snippet.replace(/^==> coursegate\.conf <==\n/m, `$&${line}\n`);
      await expect(world.gateway(kind, { change })).rejects.toThrow(/directive is duplicate/);
    },
  );
});
