import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nginx, nginxMainline } from './kinds/nginx.ts';
import { ask } from './support/ask.ts';
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

describeKinds([nginx, nginxMainline], 'the settings of the site in $name', (kind) => {
  it.each(['underscores_in_headers on;', 'ignore_invalid_headers off;'])(
    'cannot have %s without an error',
    async (line) => {
      const change = (snippet: string) => snippet.replace(/^==> coursegate\.conf <==\n/m, `$&${line}\n`);
      await expect(world.gateway(kind, { change })).rejects.toThrow(/directive is duplicate/);
    },
  );
});
