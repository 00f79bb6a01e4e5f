import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CHART, CI, CI_VALUES, helm, type Manifest, manifests, mistakesOf, only, render } from './support/chart.ts';
import { gateIn } from './support/rendered-gate.ts';
import { toolsPresent } from './support/tools.ts';

const podOf = (rendered: readonly Manifest[]): Manifest => only(rendered, 'Deployment').spec.template.spec;
const configurationOf = (rendered: readonly Manifest[]) =>
  parse(only(rendered, 'ConfigMap', 'gate-coursegate').data['coursegate.yaml']);
const variable = (container: Manifest, name: string) =>
  container.env?.find((one: { name: string }) => one.name === name)?.value;

describe.skipIf(!toolsPresent())('a Deployment of the chart', () => {
  it('runs the gate as an unprivileged user on a read-only file system, without capabilities or a token', async () => {
    for (const values of ['profile-a.yaml', 'profile-b.yaml', 'redis.yaml', 'autoscaling.yaml']) {
      const pod = podOf(await render(values));
      expect(gateIn(pod).securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        privileged: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect([pod.automountServiceAccountToken, pod.enableServiceLinks]).toEqual([false, false]);
      expect(pod.securityContext).toEqual({ fsGroup: 65532, fsGroupChangePolicy: 'OnRootMismatch' });
    }
  });

  it.each(CI_VALUES)(
    'has the admin listener on loopback and another one for probes with all values: %s',
    async (values) => {
      const { listen } = configurationOf(await render(values));
      expect(listen.admin).toEqual({ host: '127.0.0.1', port: 9090 });
      expect(listen.probes).toEqual({ host: '0.0.0.0', port: 9091 });
      expect(listen.host).toBe('0.0.0.0');
    },
  );

  it('has probes on the probes listener, wherever that is', async () => {
    const asked = (container: Manifest) =>
      ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet);
    const at = (port: number) => [
      { path: '/livez', port },
      { path: '/livez', port },
      { path: '/readyz', port },
    ];
    expect(asked(gateIn(podOf(await render('profile-a.yaml'))))).toEqual(at(9091));
    const moved = await render('profile-a.yaml', '--set', 'config.listen.probes.port=9900');
    expect(asked(gateIn(podOf(moved)))).toEqual(at(9900));
    expect(configurationOf(moved).listen.probes).toEqual({ host: '0.0.0.0', port: 9900 });
  });

  it.each([
    ['profile-a.yaml', [], 5 + 10 + 5],
    ['redis.yaml', [], 2 + 60 + 5],
    ['profile-b.yaml', [], 5 + 30 + 0 + 45 + 5],
    ['profile-a.yaml', ['--set', 'config.listen.drain.notice=2m'], 120 + 10 + 5],
    ['profile-a.yaml', ['--set', 'terminationGracePeriodSeconds=7'], 7],
    ['profile-b.yaml', ['--set', 'sidecar.native=false'], 5 + 30 + 5 + 45 + 5],
  ])(
    'with %s %j has a grace period of %d s: the drain, the backend’s shutdown, and a margin',
    async (values, more, seconds) => {
      expect(podOf(await render(values, ...more)).terminationGracePeriodSeconds).toBe(seconds);
    },
  );

  it('starts the backend in the pod after the gate, and stops it first, once it receives no more requests', async () => {
    const pod = podOf(await render('profile-b.yaml'));
    expect(pod.initContainers).toEqual([expect.objectContaining({ name: 'coursegate', restartPolicy: 'Always' })]);
    expect(pod.containers).toEqual([
      expect.objectContaining({ name: 'school', lifecycle: { preStop: { sleep: { seconds: 5 } } } }),
    ]);
    const older = podOf(await render('profile-b.yaml', '--kube-version', '1.29.0'));
    expect(older.containers[0].lifecycle).toEqual({ preStop: { exec: { command: ['sleep', '5'] } } });
    const own = '{"preStop":{"httpGet":{"path":"/bye","port":8080}}}';
    const kept = podOf(await render('profile-b.yaml', '--set-json', `backend.container.lifecycle=${own}`));
    expect(kept.containers[0].lifecycle).toEqual(JSON.parse(own));
    const beside = podOf(await render('profile-b.yaml', '--set', 'sidecar.native=false'));
    expect(beside.initContainers).toBeUndefined();
    expect(beside.containers.map((one: { name: string }) => one.name)).toEqual(['coursegate', 'school']);
    expect(beside.containers[0].restartPolicy).toBeUndefined();
  });

  it('runs one gate on an embedded store, whose volume is kept, and any number on Redis', async () => {
    const embedded = await render('profile-a.yaml');
    expect(only(embedded, 'Deployment').spec.strategy).toEqual({ type: 'Recreate' });
    expect(only(embedded, 'PersistentVolumeClaim').metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(podOf(embedded).volumes.at(-1).persistentVolumeClaim).toEqual({ claimName: 'gate-coursegate' });
    const shared = await render('redis.yaml');
    expect(only(shared, 'Deployment').spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(shared.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    expect(configurationOf(shared).store).toEqual({ kind: 'redis', url: { env: 'REDIS_URL' } });
    expect(configurationOf(shared).secret).toEqual({ env: 'COURSEGATE_SECRET' });
    const own = configurationOf(await render('autoscaling.yaml')).store;
    expect([own.kind, own.url, own.masterName]).toEqual(['redis', undefined, 'mymaster']);
  });

  it('restarts only for settings that the gate reads at startup', async () => {
    const pods = async (...more: readonly string[]) =>
      only(await render('profile-a.yaml', ...more), 'Deployment').spec.template.metadata.annotations;
    const before = await pods();
    expect(before['checksum/taken-at-start']).toMatch(/^[0-9a-f]{64}$/);
    for (const taken of ['name=Another', 'tokens.access=5m', 'listen.drain.grace=20s']) {
      expect(await pods('--set', `config.${taken}`)).toEqual(before);
    }
    for (const kept of [
      'origin=https://other.example',
      'profile=B',
      'listen.maxConnections=500',
      'listen.admin.port=9999',
      'store.kind=memory',
      'secret.env=OTHER',
      'limits.headers=32KiB',
    ]) {
      expect(await pods('--set', `config.${kept}`), kept).not.toEqual(before);
    }
    const tls = { cert: 'a.pem', key: 'a.key', clientCa: 'ca.pem' };
    expect(await pods('--set-json', `config.admin.mtls=${JSON.stringify(tls)}`)).not.toEqual(before);
  });

  it('restarts for every change if reload is disabled, and the gate then does not watch its file', async () => {
    const changed = async (...more: readonly string[]) => {
      const rendered = await render('profile-a.yaml', '--set', 'reload=false', ...more);
      expect(configurationOf(rendered).reload).toEqual({ watch: false });
      return only(rendered, 'Deployment').spec.template.metadata.annotations['checksum/config'];
    };
    const before = await changed();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(await changed()).toBe(before);
    expect(await changed('--set', 'config.name=Another')).not.toBe(before);
    expect(configurationOf(await render('profile-a.yaml')).reload).toBeUndefined();
  });

  it('has memory for 2,000 open streams, and leaves NODE_OPTIONS to the gate and the operator', async () => {
    const gate = async (values: string) => gateIn(podOf(await render(values)));
    const standard = await gate('profile-a.yaml');
    // bench/budgets.json has the memory that a gate may need.
    expect(standard.resources).toEqual({ requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } });
    expect(variable(standard, 'NODE_OPTIONS')).toBeUndefined();
    expect(variable(await gate('redis.yaml'), 'NODE_OPTIONS')).toBe(
      '--max-old-space-size=300 --import /otel/register.js',
    );
  });

  it('keeps large numbers and templates in strings', async () => {
    expect(configurationOf(await render('profile-b.yaml')).upstreams.school.maxRequests).toBe(2_000_000);
    expect(configurationOf(await render('redis.yaml')).origin).toBe('https://school.example');
  });

  it('scales by the CPU of the gate’s container, and then sets no replicas', async () => {
    const rendered = await render('autoscaling.yaml');
    expect(only(rendered, 'Deployment').spec.replicas).toBeUndefined();
    expect(only(rendered, 'HorizontalPodAutoscaler').spec.metrics).toEqual([
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'coursegate',
          target: { type: 'Utilization', averageUtilization: 70 },
        },
      },
    ]);
    expect(only(rendered, 'PodDisruptionBudget').spec.maxUnavailable).toBe('25%');
    expect(only(rendered, 'Ingress').spec.rules[0].host).toBe('school.example');
  });

  it('uses one image, by digest if given', async () => {
    const image = async (values: string, ...more: readonly string[]) =>
      gateIn(podOf(await render(values, ...more))).image;
    expect(await image('profile-a.yaml')).toBe('coursegate:0.1.0');
    expect(await image('profile-a.yaml', '--set', 'image.tag=v7')).toBe('coursegate:v7');
    expect(await image('profile-b.yaml')).toMatch(/^registry\.school\.example\/coursegate@sha256:[0-9a-f]{64}$/);
  });
});

describe.skipIf(!toolsPresent())('the network policy', () => {
  const portsOf = (policy: Manifest) =>
    policy.spec.ingress.flatMap((rule: { ports?: readonly { port: number }[] }) => rule.ports?.map(({ port }) => port));

  it('blocks access to the backend in the pod, the admin listener and the metrics', async () => {
    const rendered = await render('profile-b.yaml');
    const policy = only(rendered, 'NetworkPolicy');
    expect(portsOf(policy)).toEqual([8081]);
    expect(policy.spec.policyTypes).toEqual(['Ingress']);
    expect(policy.spec.podSelector.matchLabels).toEqual(only(rendered, 'Deployment').spec.selector.matchLabels);
    expect(only(rendered, 'Service').spec.ports).toEqual([expect.objectContaining({ port: 80, targetPort: 8081 })]);
  });

  it('admits only the named callers, the chart’s own test, and the named metrics readers', async () => {
    const rendered = await render('redis.yaml');
    const [gate, metrics, ...more] = only(rendered, 'NetworkPolicy', 'gate-coursegate').spec.ingress;
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    const test = { 'app.kubernetes.io/instance': 'gate', 'app.kubernetes.io/component': 'test' };
    expect(gate).toEqual({
      ports: [{ protocol: 'TCP', port: 8080 }],
      from: [namespace('gateways'), { podSelector: { matchLabels: test } }],
    });
    expect(only(rendered, 'Pod').metadata.labels).toMatchObject(test);
    expect(metrics).toEqual({ ports: [{ protocol: 'TCP', port: 9091 }], from: [namespace('monitoring')] });
    expect(more).toEqual([]);
  });

  it('lets the whole cluster read the metrics if a ServiceMonitor is enabled and no reader is named', async () => {
    const rendered = await render('profile-a.yaml', '--set', 'metrics.serviceMonitor.enabled=true');
    expect(only(rendered, 'NetworkPolicy').spec.ingress[1]).toEqual({
      ports: [{ protocol: 'TCP', port: 9091 }],
      from: [{ namespaceSelector: {} }],
    });
  });

  it('lets only the gate reach a backend in separate pods', async () => {
    const rendered = await render('redis.yaml');
    expect(only(rendered, 'NetworkPolicy', 'gate-coursegate-backend').spec).toEqual({
      podSelector: { matchLabels: { app: 'school' } },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: only(rendered, 'Deployment').spec.selector }] }],
    });
  });

  it('of a sidecar selects the named pods, and admits traffic to their other ports', async () => {
    const policy = only(await render('sidecar.yaml'), 'NetworkPolicy');
    expect(policy.spec.podSelector).toEqual({ matchLabels: { app: 'school' } });
    expect(portsOf(policy)).toEqual([8080, 9100]);
  });
});

describe.skipIf(!toolsPresent())('the monitoring objects', () => {
  it('include a ServiceMonitor that finds the metrics through a separate Service', async () => {
    const rendered = await render('redis.yaml');
    const service = only(rendered, 'Service', 'gate-coursegate-metrics');
    const monitor = only(rendered, 'ServiceMonitor');
    expect(service.spec).toMatchObject({ clusterIP: 'None', ports: [{ name: 'metrics', targetPort: 9091 }] });
    expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
    expect(only(rendered, 'Service', 'gate-coursegate').metadata.labels).not.toMatchObject(
      monitor.spec.selector.matchLabels,
    );
    expect(monitor.spec.namespaceSelector).toEqual({ matchNames: ['school'] });
    expect(monitor.metadata.labels?.release).toBe('prometheus');
  });

  it('include the dashboard and the alerts from the chart’s files, unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-chart-'));
    cpSync(CHART, folder, { recursive: true });
    const summary = '{{ $labels.route }} of {{ $value | humanize }}';
    const groups = [{ name: 'gate', rules: [{ alert: 'Ill', expr: 'up == 0', annotations: { summary } }] }];
    const dashboard = JSON.stringify({ title: 'Gate {{client}}', panels: [] });
    writeFileSync(join(folder, 'files/alerts.yaml'), JSON.stringify({ groups }));
    writeFileSync(join(folder, 'files/dashboard.json'), dashboard);
    const args = ['template', 'gate', folder, '--kube-version', '1.36.0', '--values', join(CI, 'redis.yaml')];
    const { stdout, stderr } = await helm(...args);
    expect(stderr).toBe('');
    expect(await mistakesOf(stdout)).toEqual([]);
    expect(only(manifests(stdout), 'PrometheusRule').spec.groups).toEqual(groups);
    const map = only(manifests(stdout), 'ConfigMap', 'gate-coursegate-dashboard');
    expect(map.data['coursegate.json'].trim()).toBe(dashboard);
    expect(map.metadata.labels?.grafana_dashboard).toBe('1');
    rmSync(folder, { recursive: true });
  });
});
