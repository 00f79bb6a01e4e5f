import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { configuredSnippet } from '../../src/operator/setup/snippets/configured.ts';
import { HIDDEN_RESPONSE_FIELDS } from '../../src/operator/setup/snippets/plugin-plan.ts';
import { manifests, mistakesOf, only, render, template } from './support/chart.ts';
import { gateIn } from './support/rendered-gate.ts';
import { toolsPresent } from './support/tools.ts';

const COURSES = { uri: { regex: expect.stringMatching(/^\/api\/v1\/courses/) } };

describe.skipIf(!toolsPresent())('the chart for gateways that ask', () => {
  it('opens the port of the decision listener for those who may ask, and no others', async () => {
    const rendered = await render('plugin.yaml');
    const { ports } = only(rendered, 'Service').spec;
    expect(ports.map(({ name, port, appProtocol }: Record<string, unknown>) => [name, port, appProtocol])).toEqual([
      ['http', 80, 'http'],
      ['http-decisions', 9092, 'http'],
    ]);
    const { ingress } = only(rendered, 'NetworkPolicy', 'gate-coursegate').spec;
    expect(ingress[1]).toEqual({
      ports: [{ protocol: 'TCP', port: 9092 }],
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'istio-system' } } }],
    });
    const pod = only(rendered, 'Deployment').spec.template.spec;
    expect(gateIn(pod).ports.map(({ containerPort }: { containerPort: number }) => containerPort)).toEqual([
      8080, 9091, 9092,
    ]);
    const without = await render('profile-a.yaml');
    expect(only(without, 'Service').spec.ports).toHaveLength(1);
  });

  it('lets Istio ask about exactly what it sends to backends', async () => {
    const rendered = await render('plugin.yaml');
    const policy = only(rendered, 'AuthorizationPolicy');
    expect(policy.metadata.namespace).toBe('istio-system');
    expect(policy.spec).toMatchObject({ action: 'CUSTOM', provider: { name: 'coursegate' } });
    const hosts = ['school.example', 'school.example:*'];
    expect(policy.spec.rules[0].to.map(({ operation }: { operation: object }) => operation)).toEqual([
      { hosts, paths: ['/api/v1/courses', '/api/v1/courses/*'], notMethods: ['OPTIONS'] },
      { hosts, paths: ['/api/v1/members/{*}/orders'], notMethods: ['OPTIONS'] },
      { hosts, paths: ['/api/v1/events'], notMethods: ['OPTIONS'] },
    ]);
    const [preflights, ...http] = only(rendered, 'VirtualService').spec.http;
    const gate = 'gate-coursegate.school.svc.cluster.local';
    expect(preflights).toMatchObject({
      match: [{ method: { exact: 'OPTIONS' } }],
      route: [{ destination: { host: gate, port: { number: 80 } } }],
    });
    expect(http[0]).toMatchObject({
      match: [COURSES],
      route: [{ destination: { host: 'school.default.svc', port: { number: 80 } } }],
    });
    expect(http[0].headers.response.remove).toEqual(HIDDEN_RESPONSE_FIELDS);
    expect(http.at(-1).route[0].destination.host).toBe(gate);
    const asked = (path: string) =>
      http.findIndex(({ match }: { match?: [{ uri: { regex: string } }] }) =>
        match === undefined ? true : new RegExp(`^(?:${match[0].uri.regex})$`).test(path),
      );
    expect(['/api/v1/courses/7', '/api/v1/members/m-1/orders', '/api/v1/events'].map(asked)).toEqual([0, 1, 2]);
    for (const path of [
      '/API/v1/courses',
      '/api/v1/courses;x/7',
      '/api/v1/%63ourses/7',
      '/api/v1/members/*/orders',
      '/x',
    ])
      expect([path, asked(path)]).toEqual([path, 3]);
  });

  it('lets Istio ask about every port that the VirtualService routes', async () => {
    const rendered = await render('plugin.yaml', '--set', 'config.origin=https://school.example:8443');
    expect(only(rendered, 'VirtualService').spec.hosts).toEqual(['school.example']);
    for (const { operation } of only(rendered, 'AuthorizationPolicy').spec.rules[0].to)
      expect(operation.hosts).toEqual(['school.example', 'school.example:*']);
  });

  it('is refused without a port to ask at', async () => {
    const { code, stderr } = await template('profile-a.yaml', '--set', 'plugin.istio.enabled=true');
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining('config.listen.decisions.address')]);
  });

  it('knows the objects that are printed for Istio', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-snippet-'));
    const file = join(folder, 'coursegate.yaml');
    const { data } = only(await render('plugin.yaml'), 'ConfigMap', 'gate-coursegate');
    writeFileSync(file, data['coursegate.yaml']);
    const environment = { COURSEGATE_SECRET: 'k'.repeat(32), COURSEGATE_DECISION_SECRET: 's'.repeat(32) };
    const loaded = await loadConfig({ file, environment });
    rmSync(folder, { recursive: true, force: true });
    const { files } = configuredSnippet(loaded, 'istio', 'coursegate.default.svc:80');
    const text = files.at(-1)?.text ?? '';
    expect(manifests(text).length).toBeGreaterThan(1);
    expect(await mistakesOf(text)).toEqual([]);
    const [provider] = parse(files[0]?.text ?? '').meshConfig.extensionProviders;
    expect(provider.envoyExtAuthzHttp).toMatchObject({
      service: 'coursegate.default.svc',
      port: 9092,
      failOpen: false,
      statusOnError: '503',
      pathPrefix: '/decide/envoy',
      includeAdditionalHeadersInCheck: { 'X-Coursegate-Secret': 's'.repeat(32) },
    });
    const fields: string[] = provider.envoyExtAuthzHttp.includeRequestHeadersInCheck;
    const sent = (name: string) => fields.some((one) => name.startsWith(one.slice(0, -1)));
    expect(
      [
        'authorization',
        'dpop',
        'x.member.id',
        'traceparent',
        'true-client-ip',
        'tailscale-user',
        'tenant',
        '$wsru',
      ].filter((name) => !sent(name)),
    ).toEqual([]);
    expect(['transfer-encoding', 'te', 'trailer'].filter(sent)).toEqual([]);
  });
});
