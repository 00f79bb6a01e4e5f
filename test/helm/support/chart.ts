import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { TOOLS } from './tools.ts';

const run = promisify(execFile);

export const CHART = fileURLToPath(new URL('../../../helm/coursegate', import.meta.url));
export const CI = fileURLToPath(new URL('../../../helm/ci', import.meta.url));

/** The values files of helm/ci, by name. */
export const CI_VALUES = readdirSync(CI).filter((name) => name.endsWith('.yaml'));

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into is what it is about
  readonly [field: string]: any;
}

/** Runs helm. Returns its exit code and output. */
export async function helm(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const environment = { ...process.env, HELM_CACHE_HOME: '/nonexistent', HELM_REPOSITORY_CONFIG: '/nonexistent/none' };
  try {
    const { stdout, stderr } = await run(TOOLS.helm, [...args], { env: environment, maxBuffer: 64 * 1024 ** 2 });
    return { code: 0, stdout, stderr };
  } catch (thrown) {
    const { code, stdout, stderr } = thrown as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

/** Renders the chart with a values file of helm/ci and further arguments of `helm template`. */
export function template(values: string, ...more: readonly string[]) {
  const place = ['template', 'gate', CHART, '--namespace', 'school', '--values', join(CI, values)];
  return helm(...place, ...(more.includes('--kube-version') ? [] : ['--kube-version', '1.36.0']), ...more);
}

/** The same, parsed. Throws helm's message if it fails. */
export async function render(values: string, ...more: readonly string[]): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await template(values, ...more);
  if (code !== 0) throw new Error(stderr);
  return manifests(stdout);
}

export function manifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/** The only manifest of that kind (and name); throws if there is none or more than one. */
export function only(rendered: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = rendered.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  if (found.length !== 1)
    throw new Error(`${found.length} of ${kind} ${name ?? ''}: ${rendered.map((one) => one.kind)}`);
  return found[0] as Manifest;
}

/** The errors that kubeconform finds in a rendered chart, with strict schemas. */
export async function mistakesOf(text: string, version = '1.36.0'): Promise<readonly string[]> {
  const location = `${TOOLS.schemas}/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json`;
  const args = ['-strict', '-output', 'json', '-kubernetes-version', version, '-schema-location', location, '-'];
  const child = run(TOOLS.kubeconform, args);
  child.child.stdin?.end(text);
  const { stdout } = await child.catch((thrown: unknown) => thrown as { stdout: string });
  const { resources } = JSON.parse(stdout) as { resources: readonly { kind: string; name: string; msg: string }[] };
  return (resources ?? []).map(({ kind, name, msg }) => `${kind} ${name}: ${msg}`);
}
