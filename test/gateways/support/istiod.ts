import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { IstioInEnvoy } from './istio-in-envoy.ts';

/**
 * The same as `istioInEnvoy`, by istiod's own code (istio/main.go), which also refuses objects that a cluster would.
 * @param program see istio/build.sh
 */
export function istiodInEnvoy(
  program: string,
  mesh: string,
  objects: string,
  { port, site, folder }: IstioInEnvoy & { readonly folder: string },
): string {
  // Istio has no destinations without a name.
  const named = objects.replaceAll("host: '127.0.0.1'", 'host: back.internal');
  const places = new Map<string, Map<number, number>>();
  const know = (host: string, number: number, at = number) =>
    places.set(host, new Map(places.get(host)).set(number, at));
  for (const [, host = '', number] of named.matchAll(/destination: \{ host: '?([^', ]+)'?, port: \{ number: (\d+) \}/g))
    know(host, Number(number), host === 'site.internal' ? site.port : undefined);
  know(/service: '?([^'\n]+)/.exec(mesh)?.[1] ?? '', Number(/^ *port: (\d+)$/m.exec(mesh)?.[1]));
  const own = [ingress(port), ...[...places].map(([host, ports]) => entry(host, ports))].map((one) => stringify(one));
  const files = ['istio.yaml', 'mesh.yaml', 'istiod.json'].map((name) => join(folder, name));
  const [written = '', meshFile = '', configuration = ''] = files;
  writeFileSync(written, [named, ...own].join('\n---\n'));
  writeFileSync(meshFile, mesh);
  execFileSync(program, [written, meshFile, String(port), configuration], { stdio: ['ignore', 'ignore', 'pipe'] });
  // To Istio, a name without a dot is one of the namespace.
  return readFileSync(configuration, 'utf8').replaceAll('"localhost.istio-system"', '"localhost", "localhost:*"');
}

const metadata = (name: string) => ({ name, namespace: 'istio-system' });

function ingress(port: number) {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: metadata('coursegate-site'),
    spec: {
      selector: { istio: 'ingressgateway' },
      servers: [{ port: { number: port, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    },
  };
}

/** @param ports of this machine, by those of the name */
function entry(host: string, ports: ReadonlyMap<number, number>) {
  const name = (number: number) => `http-${number}`;
  const at = Object.fromEntries([...ports].map(([number, actual]) => [name(number), actual]));
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: metadata(`at-${host}`),
    spec: {
      hosts: [host],
      ports: [...ports.keys()].map((number) => ({ number, name: name(number), protocol: 'HTTP' })),
      location: 'MESH_EXTERNAL',
      resolution: 'DNS',
      endpoints: [{ address: '127.0.0.1', ports: at }],
    },
  };
}
