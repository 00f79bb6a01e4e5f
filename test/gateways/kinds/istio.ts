import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind } from '../support/gateway-kind.ts';
import { istioInEnvoy } from '../support/istio-in-envoy.ts';
import { runGateway } from '../support/run-gateway.ts';
import { envoy } from './envoy.ts';

/** The objects for Istio in Envoy, without Istio: see `istioInEnvoy`. */
export const istio: GatewayKind = {
  name: 'istio',
  server: 'istio',
  install: envoy.install,
  program: envoy.program,
  unixSockets: false,
  gateHost: 'coursegate.test',
  writesUnavailable: true,
  async start({ port, snippet, site, folder }) {
    const [, mesh = '', objects = ''] = snippet.split(/^==> .* <==$/m);
    const { hostname, port: sitePort } = new URL(site);
    const file = join(folder, 'envoy.json');
    const configuration = istioInEnvoy(mesh, objects, { port, site: { host: hostname, port: Number(sitePort) } });
    writeFileSync(file, JSON.stringify(configuration));
    const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
    return runGateway(envoy.program() ?? '', args, { port });
  },
};
