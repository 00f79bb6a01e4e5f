import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Command, runCommand } from '../support/command.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';
import { CHART, CI, helm, type Manifest, manifests, mistakesOf, only } from './support/chart.ts';
import { gateIn, placeGate, type RenderedGate } from './support/rendered-gate.ts';
import { toolsPresent } from './support/tools.ts';

/** The parent chart with the gate as its dependency, rendered. */
async function parent(...more: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-parent-'));
  cpSync(join(CI, 'parent'), folder, { recursive: true });
  mkdirSync(join(folder, 'charts'));
  cpSync(CHART, join(folder, 'charts/coursegate'), { recursive: true });
  const result = await helm('template', 'shop', folder, '--kube-version', '1.36.0', ...more);
  rmSync(folder, { recursive: true });
  return result;
}

describe.skipIf(!toolsPresent())('a parent chart with two lines', () => {
  it('gets a valid pod with the gate as a native sidecar, with its files', async () => {
    const { stdout, stderr } = await parent();
    expect(stderr).toBe('');
    expect(await mistakesOf(stdout)).toEqual([]);
    const rendered = manifests(stdout);
    const pod = only(rendered, 'Deployment').spec.template.spec;
    expect(pod.initContainers).toEqual([expect.objectContaining({ name: 'coursegate', restartPolicy: 'Always' })]);
    const mounted = gateIn(pod).volumeMounts.map((one: { name: string }) => one.name);
    expect(pod.volumes.map((one: { name: string }) => one.name)).toEqual(mounted);
    expect(pod.volumes[0].configMap.name).toBe(only(rendered, 'ConfigMap').metadata.name);
    expect(rendered.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'NetworkPolicy',
      'Pod',
      'Service',
    ]);
    for (const kind of ['Service', 'NetworkPolicy'])
      expect(JSON.stringify(only(rendered, kind).spec)).toContain('"app":"school"');
  });

  it('is refused with a value that the gate does not know', async () => {
    const { code, stderr } = await parent('--set', 'coursegate.config.login.kindd=session');
    expect(code).not.toBe(0);
    expect(stderr).toContain('coursegate:');
    expect(stderr).toContain('kindd');
  });

  it('can have the gate as an ordinary container', async () => {
    const { stdout } = await parent('--set', 'coursegate.sidecar.native=false');
    expect(gateIn(only(manifests(stdout), 'Deployment').spec.template.spec).restartPolicy).toBeUndefined();
  });
});

describe.skipIf(!toolsPresent())('the rendered sidecar container', () => {
  let school: RecordingUpstream;
  let rendered: readonly Manifest[];
  let container: Manifest;
  let gate: RenderedGate;
  let command: Command;
  let port: number;
  beforeAll(async () => {
    school = await startRecordingUpstream();
    port = await freePort();
    const [probes, admin] = [await freePort(), await freePort()];
    const listen = { port, probes: { port: probes }, admin: { port: admin } };
    const { stdout, stderr } = await parent(
      '--set-json',
      `coursegate.config.listen=${JSON.stringify(listen)}`,
      '--set',
      `coursegate.config.upstreams.school.url=${school.url}`,
    );
    expect(stderr).toBe('');
    rendered = manifests(stdout);
    container = gateIn(only(rendered, 'Deployment').spec.template.spec);
    gate = placeGate(container, rendered, 'shop-coursegate');
    command = runCommand(gate.args, gate.environment);
    await command.line(/^coursegate ready https:\/\/school\.example profile=B$/);
  });
  afterAll(async () => {
    command.signal('SIGKILL');
    await command.exited;
    await school.close();
    gate.remove();
  });

  it.each(['startupProbe', 'livenessProbe', 'readinessProbe'])('answers its %s', async (probe) => {
    const { path, port: asked } = container[probe].httpGet;
    expect((await fetch(`http://127.0.0.1:${asked}${path}`)).status).toBe(200);
  });

  it('serves the port of the Service, and forwards to the backend in the pod', async () => {
    expect(only(rendered, 'Service').spec.ports[0].targetPort).toBe(port);
    expect(container.ports[0].containerPort).toBe(port);
    const metadata = await fetch(`http://127.0.0.1:${port}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({ issuer: 'https://school.example' });
    await fetch(`http://127.0.0.1:${port}/a-page`);
    expect(school.requests.map(({ target }) => target)).toContain('/a-page');
  });

  it('serves probes and metrics on the pod’s address, but not the admin listener', async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((one) => one !== undefined && !one.internal && one.family === 'IPv4')?.address;
    if (address === undefined) return;
    const { port: probes } = container.readinessProbe.httpGet;
    expect((await fetch(`http://${address}:${probes}/metrics`)).status).toBe(200);
    expect((await fetch(`http://${address}:${probes}/keys/rotate`, { method: 'POST' })).status).toBe(404);
    const { admin } = (await import('yaml')).parse(only(rendered, 'ConfigMap').data['coursegate.yaml']).listen;
    expect((await fetch(`http://127.0.0.1:${admin.port}/livez`)).status).toBe(200);
    await expect(fetch(`http://${address}:${admin.port}/livez`)).rejects.toThrow();
  });

  it('exits on SIGTERM', async () => {
    command.signal('SIGTERM');
    expect(await command.exited).toBe(0);
  });
});
