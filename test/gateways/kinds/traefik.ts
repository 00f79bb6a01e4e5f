import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../support/world.ts';
import type { GatewayKind } from '../support/gateway-kind.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';

const program = () => programAt('COURSEGATE_TEST_TRAEFIK', 'traefik');

/** Traefik 3: the one in PATH, or the one that COURSEGATE_TEST_TRAEFIK names. Debian has none. */
export const traefik: GatewayKind = {
  name: 'traefik-auth',
  server: 'traefik-auth',
  install: 'a release from github.com/traefik/traefik/releases, in PATH',
  optional: true,
  program,
  unixSockets: false,
  cleansPaths: true,
  async start({ port, snippet, site, folder }) {
    const dynamic = join(folder, 'dynamic');
    mkdirSync(dynamic);
    const asking = await freePort();
    writeFileSync(
      join(dynamic, 'coursegate.yaml'),
      snippet.replaceAll('127.0.0.1:9093', `127.0.0.1:${asking}`).replace(/'[^']*'(?= }\] # Yours)/, `'${site}'`),
    );
    writeFileSync(join(dynamic, 'site.yaml'), operatorsOwn(site));
    const file = join(folder, 'traefik.yaml');
    writeFileSync(file, operatorsFile(port, asking, dynamic));
    const gateway = await runGateway(program() ?? '', [`--configFile=${file}`], { port });
    // Traefik reads the files of a provider only after it listens, and until then has no route.
    const waiting = async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()) === '404 page not found\n';
    for (let tries = 0; tries < 500 && (await waiting()); tries += 1) await setTimeout(20);
    return gateway;
  },
};

function operatorsFile(port: number, asking: number, folder: string): string {
  return `entryPoints:
  web: { address: "127.0.0.1:${port}" }
  coursegate: { address: "127.0.0.1:${asking}", forwardedHeaders: { trustedIPs: [127.0.0.1/32], notAppendXForwardedFor: true } }
providers: { file: { directory: "${folder}", watch: false } }
global: { checkNewVersion: false, sendAnonymousUsage: false }
log: { level: ERROR }
`;
}

/** A router that is there already, and would pass everything on if it came before ours. */
function operatorsOwn(site: string): string {
  return `http:
  routers: { site: { rule: "Host(\`localhost\`)", service: site } }
  services: { site: { loadBalancer: { servers: [{ url: "${site}" }] } } }
`;
}
