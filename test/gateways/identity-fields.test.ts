import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { SERVERS } from '../../src/operator/setup/names.ts';
import { ASKING } from '../../src/operator/setup/snippets/gateways.ts';
import { DOCUMENTED_DETAILS } from '../support/documented-details.ts';

/** On the wire, and in what backends read. */
const FIELDS = [
  'X-Member-Id',
  ...DOCUMENTED_DETAILS.map(({ header }) => header),
  'X-Member-Scope',
  'X-Client-Id',
  'X-Coursegate-Assertion',
];
const LIST = '../../src/http/identity-fields.ts';
/** Of no family of names that is removed as a whole. */
const ANOTHER = 'X-Pupil-Phone';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-identity-fields-'));
const file = join(folder, 'coursegate.yaml');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.doUnmock(LIST);
  vi.resetModules();
});

async function withOneMore(): Promise<void> {
  vi.resetModules();
  vi.doMock(LIST, async (original) => {
    const known = await original<typeof import('../../src/http/identity-fields.ts')>();
    return {
      ...known,
      IDENTITY_FIELDS: [...known.IDENTITY_FIELDS, ANOTHER],
      OWN_IDENTITY: [...known.OWN_IDENTITY, ANOTHER.toLowerCase()],
    };
  });
}

async function loaded() {
  writeFileSync(
    file,
    stringify({
      version: 1,
      profile: 'B',
      anonymous: 'refuse',
      origin: 'https://school.example',
      listen: { decisions: { address: '0.0.0.0:9092', secret: { env: 'SECRET' } } },
      store: { kind: 'memory' },
      login: {
        kind: 'session',
        upstream: 'school',
        whoami: { path: '/me' },
        loginUrl: 'https://school.example/login',
        cookies: ['school'],
      },
      upstreams: { school: { url: 'http://school.default.svc:8000', identity: ['headers'] } },
      routes: [{ match: 'GET /api/v1/**', upstream: 'school', scopes: ['courses:read'], forwardedBy: 'gateway' }],
    }),
  );
  const { loadConfig } = await import('../../src/config/load.ts');
  return loadConfig({ file, environment: { SECRET: 'gateways/only+0123456789abcdef==' } });
}

async function fileFor(server: string): Promise<string> {
  const { configuredSnippet, printed } = await import('../../src/operator/setup/snippets/configured.ts');
  return printed(configuredSnippet(await loaded(), server, 'coursegate.default.svc:80').files);
}

/** Whether a file names a field, with the names of some gateways for it, or in an expression. */
const names = (text: string, name: string) => {
  const lower = text.toLowerCase();
  const family = /^x-(member|coursegate)-/.exec(name.toLowerCase());
  const variable = `$http_${name.toLowerCase().replaceAll('-', '_')}`;
  const expression = name.toLowerCase().replaceAll('-', '[^a-za-z0-9]');
  const ofFamily = family === null ? undefined : `x[^a-za-z0-9]${family[1]}[^a-za-z0-9].*`;
  return [name.toLowerCase(), variable, expression, ofFamily].some((one) => one !== undefined && lower.includes(one));
};

describe('the identity fields', () => {
  it('are these, on the wire', async () => {
    const { IDENTITY_FIELDS } = await import('../../src/http/identity-fields.ts');
    expect(IDENTITY_FIELDS).toEqual(FIELDS);
  });

  it.each(SERVERS)('are all named in the file for %s', async (server) => {
    const text = await fileFor(server);
    expect(FIELDS.filter((name) => !names(text, name))).toEqual([]);
  });

  // The doctor imports nothing of the gate, so that it can examine any deployment.
  it('are all forged by the doctor', async () => {
    const { otherIdentityFields } = await import('../../src/operator/doctor/gateway/names.ts');
    const { IDENTITY_FIELDS } = await import('../../src/http/identity-fields.ts');
    expect(otherIdentityFields([])).toEqual(expect.arrayContaining([...IDENTITY_FIELDS]));
  });

  it('are all named in the documentation', () => {
    const table = 'login/README.md#what-apps-learn-about-a-member';
    const named = [table, ...FIELDS.filter((name) => !DOCUMENTED_DETAILS.some(({ header }) => header === name))];
    const text = (page: string) => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
    for (const page of ['docs/identity.md', 'docs/plugin-mode.md'])
      expect([page, named.filter((name) => !text(page).includes(name))]).toEqual([page, []]);
  });
});

describe('another identity field in the list', () => {
  it.each(SERVERS)('is in the file for %s', async (server) => {
    expect(names(await fileFor(server), ANOTHER)).toBe(false);
    await withOneMore();
    const text = await fileFor(server);
    expect(names(text, ANOTHER)).toBe(true);
    // What removes it from requests at the site knows its other spellings, where gateways have to be told.
    if (server === 'caddy-auth') expect(text).toContain('request_header -*_*\n');
    else if (!server.startsWith('nginx') && server !== 'istio')
      expect(text).toMatch(/x_pupil_phone|x\[\^A-Za-z0-9\]pupil/);
  });

  it.each(ASKING.map(({ name }) => name))('is removed from responses, in the file for %s', async (server) => {
    await withOneMore();
    const { pluginPlan } = await import('../../src/operator/setup/snippets/plugin-plan.ts');
    const [upstream] = pluginPlan(await loaded(), 'coursegate.default.svc:80').upstreams;
    expect(upstream?.hiddenFields).toContain('x-pupil-phone');
    expect((await fileFor(server)).toLowerCase()).toContain('x-pupil-phone');
  });

  it('is refused from gateways that should have removed it, and from clients', async () => {
    await withOneMore();
    const { refuseForged } = await import('../../src/decisions/client-fields.ts');
    const { requestField } = await import('../../src/http/header-names.ts');
    expect(() => refuseForged([ANOTHER, '1'])).toThrow();
    expect(() => refuseForged(['X_Pupil_Phone', '1'])).toThrow();
    expect(requestField(ANOTHER)).toBe('drop');
  });

  it('is removed by Envoy, and empty in each decision for others', async () => {
    await withOneMore();
    const { admitHandler } = await import('../../src/decisions/admit.ts');
    const { createForwarding } = await import('../../src/decisions/forwarding.ts');
    const { DecisionResponse } = await import('../../src/decisions/decision-response.ts');
    const { config } = await loaded();
    const [route] = config.routes;
    if (route === undefined) throw new Error('This configuration has no route.');
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: 'GET', rawHeaders: ['Host', 'school.example'] });
    const response = new DecisionResponse(request);
    let identity: readonly string[] = [];
    response.tell = (decided) => {
      if (decided.kind === 'admitted') ({ identity } = decided);
      return { status: 200, headers: [], body: '' };
    };
    const provenance = {
      clientAddress: '192.0.2.1',
      hops: '192.0.2.1',
      trusted: false,
      requestId: 'r',
      traceFields: () => [],
    };
    const record = { provenance, upstream: 'school' };
    const target = { path: '/api/v1/x', query: '' };
    const exchange = { request, response, record, target, principal: { kind: 'anonymous' }, ownFields: [] };
    await admitHandler(route, { config }, () => ({}))(exchange as never);
    expect(identity.filter((_, at) => at % 2 === 0)).toEqual([...FIELDS, ANOTHER]);
    expect(createForwarding(config)({ request, record } as never, identity).remove).toContain('x-pupil-phone');
  });
});
