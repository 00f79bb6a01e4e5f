import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { configuredSnippet, printed } from '../../../src/operator/setup/snippets/configured.ts';
import { runCommand } from '../../support/command.ts';

/** Names that would be those of other schools, if they were put together carelessly. */
const NAMES = ['b', 'to-b', 'b-to-b', 'http', 'site', 'gate', 'long-'.repeat(12)];
const ENVIRONMENT = { DECISIONS: 'a-secret-of-the-gateway-0123456789' };

const folder = mkdtempSync(join(tmpdir(), 'coursegate-snippets-schools-'));
const main = join(folder, 'main.yaml');

const school = (name: string, more: object = { forwardedBy: 'gateway' }) => ({
  version: 1,
  profile: 'B',
  origin: `https://${name.replace(/-$/, '')}.example`,
  login: {
    kind: 'session',
    upstream: 'b',
    loginUrl: '/login',
    whoami: { path: '/me', subject: '/id' },
    cookies: ['s'],
  },
  upstreams: Object.fromEntries(['b', 'gate', 'b_to_b', 'b-b'].map((one) => [one, { url: 'http://127.0.0.1:9' }])),
  site: { upstream: 'b' },
  routes: ['b', 'gate', 'b_to_b', 'b-b'].map((upstream, at) => ({
    ...{ match: `GET /of/${at}/**`, upstream, scopes: ['courses:read'], ...more },
  })),
});

beforeAll(() => {
  mkdirSync(join(folder, 'schools'));
  for (const name of NAMES) writeFileSync(join(folder, 'schools', `${name}.yaml`), stringify(school(name)));
  writeFileSync(join(folder, 'schools', 'proxied.yaml'), stringify(school('proxied', {})));
  writeFileSync(
    main,
    stringify({
      version: 1,
      schools: './schools/*.yaml',
      listen: { trustedProxies: ['loopback'], decisions: { address: '127.0.0.1:9092', secret: { env: 'DECISIONS' } } },
      store: { kind: 'memory' },
    }),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

async function files(server: string, names?: readonly string[], gate?: string) {
  const { schools } = await loadConfig({ file: main, environment: ENVIRONMENT });
  const all = names ?? [...(schools?.files.keys() ?? [])];
  const loaded = await Promise.all(all.map(async (name) => schools?.load(name)));
  return configuredSnippet(
    loaded.filter((one) => one !== undefined),
    server,
    gate,
  ).files;
}

/** What is named twice. */
function repeated(names: readonly string[]): readonly string[] {
  return names.filter((name, at) => names.indexOf(name) !== at);
}

const matches = (text: string, expression: RegExp) => [...text.matchAll(expression)].map(([, name = '']) => name);

describe('the files of many schools for one gateway', () => {
  it('name no upstream and no map of nginx twice, and no file', async () => {
    const all = await files('nginx-auth');
    const http = printed(all.filter(({ name }) => /^coursegate-http_/.test(name)));
    const upstreams = matches(http, /^upstream (\S+)/gm);
    expect(upstreams).toHaveLength(NAMES.length * 6);
    expect(repeated(upstreams)).toEqual([]);
    const choices = matches(http, /^map \$request_uri (\$\S+)/gm);
    expect(choices).toHaveLength(NAMES.length);
    expect(repeated(choices)).toEqual([]);
    expect(repeated(all.map(({ name }) => name))).toEqual([]);
    // What is there for each school is the same for all, so that it does not matter which of them nginx takes.
    const others = new Map<string, Set<string>>();
    for (const [map, name = ''] of http.matchAll(/^map (?!\$request_uri).*?(\$coursegate_\S+) \{.*$/gm))
      others.set(name, (others.get(name) ?? new Set()).add(map));
    expect([...others.keys()].toSorted()).toEqual([
      ...['$coursegate_caching', '$coursegate_forged', '$coursegate_outdated', '$coursegate_retry_after'],
    ]);
    expect([...others.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1]);
    for (const { text } of all.filter(({ name }) => /^coursegate_/.test(name)))
      for (const name of new Set(matches(text, /(?:proxy_pass https?:\/\/)(coursegate_[\w-]+)/g)))
        expect(upstreams).toContain(name);
  });

  it('name no router, service and middleware of Traefik twice, and use only their own', async () => {
    const trees = (await files('traefik-auth')).map(({ text }) => parse(text).http);
    for (const part of ['routers', 'services', 'middlewares'])
      expect(repeated(trees.flatMap((tree) => Object.keys(tree[part])))).toEqual([]);
    for (const { routers, services, middlewares } of trees)
      for (const router of Object.values<{ service: string; middlewares: readonly string[] }>(routers)) {
        expect(services).toHaveProperty([router.service]);
        for (const name of router.middlewares) expect(middlewares).toHaveProperty([name]);
      }
  });

  it('name no section and no condition of HAProxy for two schools', async () => {
    const [{ text = '' } = {}, ...more] = await files('haproxy');
    expect(more.map(({ name }) => name)).toEqual(['coursegate.lua']);
    expect(repeated(matches(text, /^backend (\S+)/gm))).toEqual([]);
    expect(repeated(matches(text, /^ +acl (\S+)/gm))).toEqual([]);
    for (const used of matches(text, /use_backend (\S+)/g)) expect(text).toContain(`\nbackend ${used} from`);
  });

  it('name no host and no cluster of Envoy twice', async () => {
    const [file, ...more] = await files('envoy');
    expect(more).toEqual([]);
    const text = file?.text ?? '';
    const clusters = matches(text, /^ {4}- name: (coursegate\S*)$/gm);
    expect(clusters).toHaveLength(2 + NAMES.length * 5);
    expect(repeated(clusters)).toEqual([]);
    expect(repeated(matches(text, /domains: \['(.*)'\]/g))).toEqual([]);
    for (const used of new Set(matches(text, /cluster: (coursegate[\w-]*)/g))) expect(clusters).toContain(used);
  });

  it('name no object of Istio twice, and its provider', async () => {
    const all = await files('istio', ['b', 'to-b'], 'coursegate.default.svc.cluster.local:80');
    const [one, two] = ['b', 'to-b'].map((name) => all.filter((file) => file.name.endsWith(`_${name}.yaml`)));
    for (const [name, [mesh, objects]] of Object.entries({ b: one ?? [], 'to-b': two ?? [] })) {
      expect(parse(mesh?.text ?? '').meshConfig.extensionProviders[0].name).toBe(`coursegate-${name}`);
      expect(matches(objects?.text ?? '', /^metadata: \{ name: ([\w-]+),/gm)).toEqual(
        Array(3).fill(`coursegate-${name}`),
      );
      expect(objects?.text).toContain(`provider: { name: coursegate-${name} }`);
    }
  });

  it('have one name each for web servers that send coursegate its paths', async () => {
    for (const server of ['nginx', 'apache', 'caddy', 'traefik']) {
      const all = await files(server);
      expect(all).toHaveLength(NAMES.length + 1);
      expect(repeated(all.map(({ name }) => name))).toEqual([]);
    }
    const trees = (await files('traefik')).map(({ text }) => parse(text).http);
    for (const part of ['routers', 'services'])
      expect(repeated(trees.flatMap((tree) => Object.keys(tree[part])))).toEqual([]);
  });

  it('are written by one command, for all schools with routes for a gateway or for one', async () => {
    const run = async (...args: readonly string[]) => {
      const command = runCommand(['snippets', '--config', main, '--for', 'nginx-auth', ...args], ENVIRONMENT);
      return { code: await command.exited, said: command.stdout() + command.stderr() };
    };
    expect((await run('--dir', join(folder, 'all'))).code).toBe(0);
    expect(readdirSync(join(folder, 'all')).toSorted()).toEqual(
      NAMES.flatMap((name) => [`coursegate-http_${name}.conf`, `coursegate_${name}.conf`]).toSorted(),
    );
    expect((await run('--school', 'b', '--dir', join(folder, 'one'))).code).toBe(0);
    expect(readdirSync(join(folder, 'one'))).toEqual(['coursegate-http_b.conf', 'coursegate_b.conf']);
    expect(await run('--school', 'proxied')).toMatchObject({ said: expect.stringContaining('forwardedBy: gateway') });
    expect(await run('--school', 'none')).toMatchObject({
      code: 64,
      said: expect.stringContaining('no school "none"'),
    });
  });
});

it('`check --school` checks one school, and its mistakes alone', async () => {
  writeFileSync(join(folder, 'schools', 'wrong.yaml'), stringify({ ...school('wrong'), routes: 'none' }));
  const run = async (...args: readonly string[]) => {
    const command = runCommand(['check', main, ...args], ENVIRONMENT);
    return { code: await command.exited, said: command.stdout() + command.stderr() };
  };
  expect((await run()).code).toBe(78);
  expect(await run('--school', 'b')).toMatchObject({ code: 0, said: expect.stringContaining('1 school') });
  expect(await run('--school', 'wrong')).toMatchObject({ code: 78, said: expect.stringContaining('wrong.yaml') });
  rmSync(join(folder, 'schools', 'wrong.yaml'));
});
