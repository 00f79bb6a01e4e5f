import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Schools, startSchools } from '../support/schools.ts';
import { freePort } from '../support/world.ts';
import { caddy } from './kinds/caddy.ts';
import { send } from './support/ask.ts';
import type { GatewayKind, RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { startSchoolsGateway, takesSchools } from './support/schools-gateway.ts';

// A school below the name of the other one.
const ONE = 'a.school.example';
const TWO = 'school.example';
const HOSTS = { one: ONE, two: TWO };
const ENVIRONMENT = { DECISIONS: 'a-secret-of-the-gateway-0123456789' };
const PATH = '/api/v1/whoami';

const ROUTES = [{ match: `GET ${PATH}`, upstream: 'echo', scopes: [], forwardedBy: 'gateway' }];

let schools: Schools;
/** One backend program, at an address for each school, so that a test sees by whose file a request came. */
let backends: Readonly<Record<'one' | 'two', RecordingUpstream>>;
let tokens: Readonly<Record<'one' | 'two', string>>;

beforeAll(async () => {
  backends = { one: await startRecordingUpstream(), two: await startRecordingUpstream() };
  const settings = (name: 'one' | 'two') => ({
    profile: 'B',
    resourceIndicator: 'required',
    anonymous: 'refuse',
    account: { enabled: false },
    origin: `https://${HOSTS[name]}`,
    upstreams: { echo: { url: backends[name].url } },
    routes: ROUTES,
  });
  schools = await startSchools({
    schools: {
      one: settings('one'),
      two: { ...settings('two'), aliases: { 'https://www.school.example': 'redirect' } },
    },
    main: {
      listen: {
        trustedProxies: ['loopback'],
        decisions: { address: `127.0.0.1:${await freePort()}`, secret: { env: 'DECISIONS' } },
      },
    },
    environment: ENVIRONMENT,
  });
  const token = async (host: string) => (await connect(await registerApp(`https://${host}`))).access_token;
  tokens = { one: await token(ONE), two: await token(TWO) };
});
afterAll(async () => {
  await schools?.close();
  for (const backend of Object.values(backends)) await backend.close();
});

/** What a hostile client says of the host, and of itself, in other fields than Host. */
const FORGED: readonly (readonly string[])[] = [
  [],
  [`X-Forwarded-Host: ${ONE}`],
  [`X-Forwarded-Host: ${TWO}`, `X-Forwarded-Host: ${ONE}`],
  [`X-Original-Host: ${ONE}`, `X-Host: ${ONE}`, `Forwarded: host=${ONE}`],
  [`X-Coursegate-Config: ${ONE}/0123456789abcdef`],
  [`X-Forwarded-Uri: ${PATH}`, 'X-Forwarded-Method: GET', `X-Original-URI: ${PATH}`],
  ['X-Member-Id: m-1001', 'X-Client-Id: x', 'X-Coursegate-Assertion: x'],
  ['X-Member-Id:', 'X-Member-Id: m-1001', 'X_Member_Id: m-1001'],
];

const NAMED: readonly (readonly string[])[] = [
  ...[ONE, TWO, ONE.toUpperCase(), `x.${ONE}`, 'nothing.example', 'www.school.example', '', `${TWO}.`].map((one) => [
    one,
  ]),
  ...[`${TWO},${ONE}`, `${TWO}, ${ONE}`, `${TWO}:443`, `${TWO}@${ONE}`, `${TWO}#${ONE}`, `${TWO}/${ONE}`].map((one) => [
    one,
  ]),
  ...[[TWO, ONE], [ONE, TWO], []],
];

const TARGETS = [PATH, ...[ONE, TWO, `${ONE}@${TWO}`, `${TWO}:80`].map((host) => `http://${host}${PATH}`)];

let gateway: RunningGateway | undefined;
let port: number;
const begin = async (kind: GatewayKind, change = (text: string) => text) => {
  port = await freePort();
  const sites = { one: backends.one.url, two: backends.two.url };
  const options = { port, hosts: HOSTS, sites, environment: ENVIRONMENT, change };
  gateway = await startSchoolsGateway(kind, schools, options);
};
const end = async () => {
  await gateway?.close();
  gateway = undefined;
};

const ask = async (target: string, hosts: readonly string[], fields: readonly string[], token?: string) => {
  const before = { one: backends.one.requests.length, two: backends.two.requests.length };
  const lines = [
    `GET ${target} HTTP/1.1`,
    ...hosts.map((host) => `Host: ${host}`),
    ...fields,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    'Connection: close',
  ];
  const answer = await send(port, `${lines.join('\r\n')}\r\n\r\n`, 5_000);
  const came = (['one', 'two'] as const).flatMap((school) =>
    backends[school].requests.slice(before[school]).map((request) => ({ school, request })),
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), answer, came };
};

describeKinds(KINDS.filter(takesSchools), 'two schools behind $name', (kind) => {
  beforeAll(() => begin(kind));
  afterAll(end);

  it('gives each backend the members of its own school', async () => {
    for (const school of ['one', 'two'] as const) {
      const { status, came } = await ask(PATH, [HOSTS[school]], [], tokens[school]);
      expect(status).toBe(200);
      expect(came.map((one) => one.school)).toEqual([school]);
      const [assertion = ''] = came[0]?.request.values('x-coursegate-assertion') ?? [];
      const origin = `https://${HOSTS[school]}`;
      expect(decodeJwt(assertion)).toMatchObject({ iss: origin, sub: 'm-1001', htm: 'GET', htu: origin + PATH });
      if (kind.assertionOnly !== true) expect(came[0]?.request.values('x-member-id')).toEqual(['m-1001']);
    }
  });

  it('refuses the token of the other one with the challenge of its own', async () => {
    for (const [school, other] of [
      ['one', 'two'],
      ['two', 'one'],
    ] as const) {
      const { status, answer, came } = await ask(PATH, [HOSTS[school]], [], tokens[other]);
      expect({ status, came }).toEqual({ status: 401, came: [] });
      expect(answer).toContain(`resource_metadata="https://${HOSTS[school]}/.well-known/oauth-protected-resource"`);
    }
  });

  it('sends what is coursegate’s own to the school of the host', async () => {
    for (const host of [ONE, TWO]) {
      const { answer } = await ask('/.well-known/oauth-authorization-server', [host], []);
      expect(answer).toContain(`"issuer":"https://${host}"`);
    }
  });

  it('lets no request through as a member of the wrong school, whatever it says of its host', async () => {
    const flaws: string[] = [];
    let passed = 0;
    for (const target of TARGETS)
      for (const hosts of NAMED)
        for (const fields of FORGED)
          for (const [of, token] of [...Object.entries(tokens), ['nobody', undefined] as const]) {
            const { came } = await ask(target, hosts, fields, token);
            const what = `${target} at ${JSON.stringify(hosts)} with ${JSON.stringify(fields)} of ${of}`;
            for (const { school, request } of came) {
              // What the backend believes of the member.
              const [assertion = '', ...further] = request.values('x-coursegate-assertion').filter((one) => one !== '');
              const plain = request.rawHeaders.filter((name, at) => at % 2 === 0 && /^x.member.id$/i.test(name));
              const member = request.values('x-member-id').filter((one) => one !== '');
              const isForged = plain.some((name) => name.toLowerCase() !== 'x-member-id') || further.length > 0;
              const signed = assertion.includes('.') ? decodeJwt(assertion) : undefined;
              if (assertion !== '' || (member.length > 0 && kind.assertionOnly !== true)) {
                passed += 1;
                if (of !== school || isForged || signed?.iss !== `https://${HOSTS[school as 'one' | 'two']}`)
                  flaws.push(`${school} got ${JSON.stringify(signed?.iss ?? assertion)} ${member}: ${what}`);
              } else if (request.target.startsWith('/api/')) flaws.push(`${school} got it without a decision: ${what}`);
            }
          }
    expect(flaws).toEqual([]);
    expect(passed).toBeGreaterThan(10);
  }, 120_000);
});

describeKinds([caddy], 'two schools behind $name, which trusts a proxy in front', (kind) => {
  beforeAll(() => begin(kind, (text) => text.replace(/forward_auth .* \{/, '$&\n\t\t\ttrusted_proxies 127.0.0.1/32')));
  afterAll(end);

  it.each([
    ['two', 200],
    ['one', 401],
  ] as const)('asks about its own host, whatever that proxy says: the token of %s', async (of, status) => {
    expect((await ask(PATH, [TWO], [`X-Forwarded-Host: ${ONE}`], tokens[of])).status).toBe(status);
  });
});
