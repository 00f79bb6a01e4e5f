import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const LISTENS = 'listen: { decisions: { address: "unix:/run/coursegate/decisions.sock" } }\n';
const route = (match: string, rest = '') => `  - { match: "${match}", upstream: school, scopes: [openid]${rest} }\n`;
const BY_GATEWAY = ', forwardedBy: gateway';

/** What is said about `forwardedBy` in the configuration with these routes. */
async function problems(routes: readonly string[], changed: (text: string) => string = (text) => text) {
  const lines = await mistakes(changed(`${SMALL}${LISTENS}routes:\n${routes.join('')}`));
  return lines.map((line) => line.replace(/^\S+ +/, ''));
}

describe('listen.decisions', () => {
  it.each([
    ['unix:/run/coursegate/decisions.sock', { path: '/run/coursegate/decisions.sock' }],
    ['127.0.0.1:9092', { host: '127.0.0.1', port: 9092 }],
    ['gate.internal:9092', { host: 'gate.internal', port: 9092 }],
    ['[::1]:9092', { host: '::1', port: 9092 }],
  ])('takes the address %s', async (address, parsed) => {
    const text = `${SMALL}listen: { decisions: { address: "${address}", secret: { env: S } } }\n`;
    const { config, secrets } = await load(text, { environment: { S: 'a-secret-with-32-characters-or-so' } });
    expect(config.listen.decisions?.address).toEqual(parsed);
    expect(secrets.get('listen.decisions.secret')).toBe('a-secret-with-32-characters-or-so');
  });

  it.each(['9092', '127.0.0.1', '127.0.0.1:65536', 'unix:relative.sock', '/run/x.sock', 'unix:/a b', 'http://a:1'])(
    'refuses the address %s',
    async (address) => {
      const [line] = await mistakes(`${SMALL}listen: { decisions: { address: "${address}", secret: { env: S } } }\n`, {
        environment: { S: 'a-secret-with-32-characters-or-so' },
      });
      expect(line).toContain('listen.decisions.address: must be unix:/PATH or HOST:PORT');
    },
  );

  it('needs a secret over TCP', async () => {
    expect(await mistakes(`${SMALL}listen: { decisions: { address: "127.0.0.1:9092" } }\n`)).toEqual([
      expect.stringContaining('listen.decisions: needs `secret`, because others on the network could ask too'),
    ]);
  });

  it('has no gRPC', async () => {
    const given = 'address: "unix:/run/a.sock", grpc: "127.0.0.1:9093"';
    expect(await mistakes(`${SMALL}listen: { decisions: { ${given} } }\n`)).toEqual([
      expect.stringContaining('listen.decisions.grpc: unknown key "grpc" (one of address, secret)'),
    ]);
  });
});

describe('a route that a gateway forwards', () => {
  it('mixes with those that coursegate forwards', async () => {
    const routes = [route('GET /a/**', BY_GATEWAY), route('POST /a/**', BY_GATEWAY), route('GET /b')].join('');
    const { config } = await load(`${SMALL}${LISTENS}routes:\n${routes}`);
    expect(config.routes.map(({ forwardedBy }) => forwardedBy)).toEqual(['gateway', 'gateway', undefined]);
  });

  it('needs the listener that gateways ask', async () => {
    expect(await problems([route('GET /a', BY_GATEWAY)], (text) => text.replace(LISTENS, ''))).toEqual([
      'routes[0].forwardedBy: needs `listen.decisions`, where the gateway asks',
    ]);
  });

  it.each([
    ['rewrite: "/b"', 'rewrite'],
    ['rewriteLinks: true', 'rewriteLinks'],
    ['bodyLimit: 1MiB', 'bodyLimit'],
    ['anonymous: refuse, approve: true', 'approve'],
    ['anonymous: refuse, query: { user: "{member.id}" }', 'query'],
  ])('cannot have %s', async (given, key) => {
    expect(await problems([route('POST /a', `${BY_GATEWAY}, ${given}`)])).toEqual([
      `routes[0].forwardedBy: a gateway cannot apply \`${key}\`: send this route through coursegate: take \`forwardedBy\` out`,
    ]);
  });

  it('cannot set a body', async () => {
    expect(
      await problems([route('POST /a', `${BY_GATEWAY}, anonymous: refuse, body: { user: "{member.id}" }`)]),
    ).toEqual([
      'routes[0].forwardedBy: a gateway cannot apply `body`: send this route through coursegate: take `forwardedBy` out',
    ]);
  });

  it('cannot have an upstream with a path or a credential', async () => {
    const at = 'http://127.0.0.1:4000 }';
    const [path] = await problems([route('GET /a', BY_GATEWAY)], (text) =>
      text.replace(at, 'http://127.0.0.1:4000/app }'),
    );
    expect(path).toContain("a gateway cannot prepend the path in the upstream's `url`");
    const credential = await problems([route('GET /a', BY_GATEWAY)], (text) =>
      text.replace(at, 'http://127.0.0.1:4000, credential: { kind: key, header: X-Key, secret: { env: S } } }'),
    );
    expect(credential.join()).toContain('a gateway cannot send the `credential` of the upstream');
  });

  it('cannot be observed', async () => {
    const [line] = await problems([route('GET /a', BY_GATEWAY)], (text) => `${text}enforcement: { mode: observe }\n`);
    expect(line).toContain('observe mode sees only requests that go through coursegate');
  });

  it.each([
    ['another pattern', 'GET /a/b'],
    ['the same pattern for another method', 'POST /a/**'],
  ])('cannot share paths with %s that coursegate forwards', async (_what, match) => {
    expect(await problems([route(match), route('GET /a/**', BY_GATEWAY)])).toEqual([
      'routes[1].forwardedBy: shares paths with routes[0], which coursegate forwards, and a gateway does not look at methods: forward both in the same way',
    ]);
  });

  it('cannot share paths with a route to another upstream', async () => {
    const other = route('GET /a/**', BY_GATEWAY).replace('upstream: school', 'upstream: more');
    const found = await problems([route('GET /a/b', BY_GATEWAY), other], (text) =>
      text.replace('upstreams:', 'upstreams:\n  more: { url: http://127.0.0.1:4001 }'),
    );
    expect(found).toEqual([
      'routes[1].forwardedBy: shares paths with routes[0], which has another upstream, and a gateway chooses by the path alone: take `forwardedBy` out of both',
    ]);
  });
});

describe('check, about a route that a gateway forwards', () => {
  const LISTENING = 'listen: { trustedProxies: [loopback], decisions: { address: "unix:/run/x.sock" } }\n';
  const warnings = async (identity: string, changed: (text: string) => string = (text) => text) => {
    const small = SMALL.replace('http://127.0.0.1:4000 }', `http://127.0.0.1:4000, identity: [${identity}] }`);
    const loaded = await load(changed(`${small}${LISTENING}routes:\n${route('GET /a/**', BY_GATEWAY)}`));
    return loaded.warnings.map(({ path, message }) => `${path}: ${message}`);
  };
  const withoutSite = (text: string) =>
    text.replace(/^site:.*\n/m, '').replace('loginUrl: /login', 'loginUrl: https://login.school.example/');

  it('says that addresses of the site get lost, unless it knows the site', async () => {
    const [found] = await warnings('assertion', withoutSite);
    expect(found).toContain('site: is not set, so pages of the site with an unusual address, such as one with `;`');
    expect(await warnings('assertion')).toEqual([]);
  });

  it('says which upstreams depend on the gateway to keep clients from forging members', async () => {
    const [found] = await warnings('headers, assertion');
    expect(found).toContain('upstreams.school.identity: has `headers`, which only a gateway that removes them');
    expect(await warnings('headers', (text) => text.replace(BY_GATEWAY, ''))).toEqual([]);
  });
});
