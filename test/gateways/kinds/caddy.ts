import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind } from '../support/gateway-kind.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';

const program = () => programAt('COURSEGATE_TEST_CADDY', 'caddy');

/** Caddy: Debian's, or the one that COURSEGATE_TEST_CADDY names. */
export const caddy: GatewayKind = {
  name: 'caddy-auth',
  server: 'caddy-auth',
  install: 'apt-get install caddy',
  program,
  unixSockets: true,
  async start({ port, snippet, site, folder }) {
    const [, imported = '', fields = ''] = snippet.split(/^==> .* <==$/m);
    const coursegate = join(folder, 'coursegate');
    mkdirSync(coursegate);
    writeFileSync(join(coursegate, 'Caddyfile'), imported);
    writeFileSync(join(coursegate, 'coursegate-fields.caddy'), fields);
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, operatorsFile(port, site, join(coursegate, 'Caddyfile')));
    const environment = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    return runGateway(program() ?? '', ['run', '--adapter', 'caddyfile', '--config', file], { port, environment });
  },
};

/** With a handle that would take precedence over ours if it came first. */
function operatorsFile(port: number, site: string, imported: string): string {
  return `{
	admin off
	auto_https off
	grace_period 1s
}
http://localhost:${port} {
	bind 127.0.0.1
	import ${imported}
	handle /api/* {
		respond "past the gate"
	}
	handle /member/* {
		respond "past the gate"
	}
	handle {
		reverse_proxy ${site}
	}
}
`;
}
