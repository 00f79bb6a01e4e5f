import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind } from '../support/gateway-kind.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';

const program = () => programAt('COURSEGATE_TEST_HAPROXY', 'haproxy');

/** HAProxy with Lua: Debian's, or the one that COURSEGATE_TEST_HAPROXY names. */
export const haproxy: GatewayKind = {
  name: 'haproxy',
  server: 'haproxy',
  install: 'apt-get install haproxy',
  program,
  unixSockets: true,
  async start({ port, snippet, site, folder }) {
    const [, configuration = '', script = ''] = snippet.split(/^==> .* <==$/m);
    const lua = join(folder, 'coursegate.lua');
    const file = join(folder, 'coursegate.cfg');
    writeFileSync(lua, script.trimStart());
    // What the operator has to change.
    const changed = configuration
      .trimStart()
      .replace(/lua-load-per-thread .*/, `lua-load-per-thread ${lua}`)
      .replace(/^ {4}bind .*/m, `    bind 127.0.0.1:${port}`)
      .replace('server site 127.0.0.1:8080', `server site ${new URL(site).host}`);
    writeFileSync(file, changed);
    return runGateway(program() ?? '', ['-db', '-f', file], { port });
  },
};
