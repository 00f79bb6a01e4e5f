import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Command, runCommand } from '../support/command.ts';
import { freePort } from '../support/world.ts';
import { type Manifest, only, render, template } from './support/chart.ts';
import { gateIn, placeGate, type RenderedGate } from './support/rendered-gate.ts';
import { toolsPresent } from './support/tools.ts';

const HOSTS = ['mill.example', 'school.example', 'www.mill.example'];
const hostsOf = (rules: readonly { host: string }[]) => rules.map(({ host }) => host);

describe.skipIf(!toolsPresent())('the chart with many schools', () => {
  it('leads the hosts of all schools to the gate, each with its own certificate', async () => {
    const rendered = await render('schools.yaml');
    const ingress = only(rendered, 'Ingress').spec;
    expect(hostsOf(ingress.rules)).toEqual(HOSTS);
    expect(ingress.tls).toEqual(HOSTS.map((host) => ({ hosts: [host], secretName: `tls-${host}` })));
    expect(only(rendered, 'HTTPRoute').spec.hostnames).toEqual(HOSTS);
    const shared = only(await render('schools.yaml', '--set', 'ingress.tlsSecret=wildcard'), 'Ingress').spec;
    expect(shared.tls).toEqual([{ hosts: HOSTS, secretName: 'wildcard' }]);
  });

  it('has no hostnames in its HTTPRoute if they are more than it may have', async () => {
    const hostnames = async (count: number) => {
      const more = Array.from({ length: count }, (_, at) => [`s${at}`, { origin: `https://s${at}.example` }]);
      const set = ['--set-json', `schools=${JSON.stringify(Object.fromEntries(more))}`];
      return only(await render('schools.yaml', ...set), 'HTTPRoute').spec.hostnames;
    };
    expect(await hostnames(16)).toHaveLength(16);
    expect(await hostnames(17)).toBeUndefined();
  });

  it('restarts no pods for a school that is added or changed', async () => {
    const annotations = async (...more: readonly string[]) =>
      only(await render('schools.yaml', ...more), 'Deployment').spec.template.metadata.annotations;
    expect(await annotations('--set', 'schools.third.origin=https://third.example')).toEqual(await annotations());
  });

  it('takes schools from a volume of the operator’s own', async () => {
    const own = [
      ...['--set', 'schools=null,config.schools=/etc/schools/*.yaml'],
      ...['--set-json', 'ingress.addresses=["https://one.example"]'],
      ...['--set-json', 'extraVolumes=[{"name":"schools","configMap":{"name":"schools"}}]'],
      ...['--set-json', 'extraVolumeMounts=[{"name":"schools","mountPath":"/etc/schools"}]'],
    ];
    const rendered = await render('schools.yaml', ...own);
    expect(only(rendered, 'ConfigMap').data['coursegate.yaml']).toContain('schools: /etc/schools/*.yaml');
    expect(hostsOf(only(rendered, 'Ingress').spec.rules)).toEqual(['one.example']);
    expect(rendered.map(({ kind }) => kind)).not.toContain('Pod');
  });

  it.each([
    ['config.origin=https://x.example', 'config.origin: belongs in the settings of each school'],
    ['files.x\\.yml=x', 'x.yml would be read as a school'],
    ['config.schools=./x/*.yaml', 'config.schools cannot name another one'],
    ['plugin.istio.enabled=true', 'plugin.istio: is for one school'],
    ['schools.mill.orgin=https://x.example', "invalid propertyName 'orgin'"],
    ['schools.Mill.origin=https://x.example', "invalid propertyName 'Mill'"],
    ['schools=null', "'/config': missing properties 'origin'"],
  ])('refuses %s: %s', async (setting, words) => {
    const { code, stderr } = await template('schools.yaml', '--set', setting);
    expect(code).not.toBe(0);
    expect(stderr).toContain(words);
  });
});

describe.skipIf(!toolsPresent())('the rendered gate of many schools', () => {
  let rendered: readonly Manifest[];
  let gate: RenderedGate;
  let command: Command;
  let port: number;
  let probes: number;
  beforeAll(async () => {
    port = await freePort();
    probes = await freePort();
    const config = { listen: { port, probes: { port: probes }, admin: { port: 0 } }, store: { kind: 'memory' } };
    rendered = await render(
      'schools.yaml',
      ...['--set', 'replicas=1,redis.existingSecret='],
      ...['--set-json', `config=${JSON.stringify(config)}`],
    );
    gate = placeGate(gateIn(only(rendered, 'Deployment').spec.template.spec), rendered, 'gate-coursegate');
    command = runCommand(gate.args, gate.environment);
    await command.line(/^coursegate ready schools=2$/);
  });
  afterAll(async () => {
    command.signal('SIGKILL');
    await command.exited;
    gate.remove();
  });

  const issuerAt = async (host: string) => {
    const path = '/.well-known/oauth-authorization-server';
    const [answer] = (await once(get({ port, path, headers: { host } }), 'response')) as [IncomingMessage];
    const text = (await answer.toArray()).join('');
    return answer.statusCode === 200 ? JSON.parse(text).issuer : answer.statusCode;
  };

  it('serves each school at its own host, and tells which names it has', async () => {
    expect(await issuerAt('school.example')).toBe('https://school.example');
    expect(await issuerAt('mill.example')).toBe('https://mill.example');
    expect(await issuerAt('www.mill.example')).toBe(308);
    expect(await issuerAt('other.example')).toBe(421);
    const asked = (name: string) => fetch(`http://127.0.0.1:${probes}/tls?domain=${name}`);
    expect([(await asked('www.mill.example')).status, (await asked('other.example')).status]).toEqual([200, 404]);
  });

  it('passes `helm test` for each origin', async () => {
    const [pod] = only(rendered, 'Pod').spec.containers;
    const [script] = pod.args as [string];
    const url = /http:\/\/gate-coursegate:\d+/;
    expect(script).toMatch(url);
    const file = join(dirname(gate.file), 'test.mjs');
    writeFileSync(file, script.replace(url, `http://127.0.0.1:${port}`));
    const [{ value }] = pod.env as [{ value: string }];
    const run = (origins: string) =>
      execFileSync(process.execPath, [file], { env: { ORIGINS: origins }, encoding: 'utf8', stdio: 'pipe' });
    expect(run(value)).toBe('https://mill.example\nhttps://school.example\n');
    expect(() => run('["https://other.example"]')).toThrow();
    rmSync(file);
  });
});
