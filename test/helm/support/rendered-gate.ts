import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Manifest, only } from './chart.ts';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: unknown;
}

/** Runs a container of the chart's gate on this machine, with the files and variables that a pod would have. */
export interface RenderedGate {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly file: string;
  remove(): void;
}

/** Stand-in values for Secrets: key material, or the URL of a Redis. */
const standIn = ({ name }: Variable) =>
  name === 'REDIS_URL' ? 'redis://127.0.0.1:6379' : '0123456789abcdef'.repeat(4);

/** Takes the container and the rendered manifests. Returns how to run it, with its two folders mapped to local ones. */
export function placeGate(container: Manifest, rendered: readonly Manifest[], configMap: string): RenderedGate {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-chart-'));
  const places = { '/etc/coursegate': join(folder, 'etc'), '/var/lib/coursegate': join(folder, 'var') };
  const placed = (text: string) =>
    Object.entries(places).reduce((whole, [there, here]) => whole.replaceAll(there, here), text);
  for (const place of Object.values(places)) mkdirSync(place);
  const { data } = only(rendered, 'ConfigMap', configMap);
  for (const [name, text] of Object.entries(data as Record<string, string>)) {
    writeFileSync(join(places['/etc/coursegate'], name), placed(text));
  }
  // The modules of OpenTelemetry are not installed here.
  const variables = ((container.env ?? []) as readonly Variable[]).filter((one) => !one.value?.includes('--import'));
  return {
    args: (container.args as readonly string[]).map(placed),
    environment: Object.fromEntries(variables.map((one) => [one.name, one.value ?? standIn(one)])),
    file: join(places['/etc/coursegate'], 'coursegate.yaml'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The gate's container in a pod's spec, at any position. */
export function gateIn(spec: Manifest): Manifest {
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])] as readonly (Manifest & { name: string })[];
  const found = all.find(({ name }) => name === 'coursegate');
  if (found === undefined) throw new Error('there is no gate in the pod');
  return found;
}
