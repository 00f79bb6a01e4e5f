import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind } from '../support/gateway-kind.ts';
import { istioInEnvoy } from '../support/istio-in-envoy.ts';
import { istiodInEnvoy } from '../support/istiod.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';
import { envoy } from './envoy.ts';

const translator = () => programAt('COURSEGATE_TEST_ISTIO', 'coursegate-istio');

/** The objects for Istio in Envoy: as istiod translates them where its code is there, otherwise as `istioInEnvoy` does. */
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
    const options = { port, site: { host: hostname, port: Number(sitePort) } };
    const program = translator();
    const configuration =
      program === undefined
        ? JSON.stringify(istioInEnvoy(mesh, objects, options))
        : istiodInEnvoy(program, mesh, objects, { ...options, folder });
    writeFileSync(file, configuration);
    const args = ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'];
    return runGateway(envoy.program() ?? '', args, { port });
  },
};
