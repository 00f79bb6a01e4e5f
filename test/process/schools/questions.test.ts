import { once } from 'node:events';
import http from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../../support/app.ts';
import { connect } from '../../support/connection.ts';
import { type Schools, startSchools } from '../../support/schools.ts';
import { freePort } from '../../support/world.ts';

// A school below the name of the other one.
const ONE = 'a.school.example';
const TWO = 'school.example';
const SECRET = 'a-secret-of-the-gateway-0123456789';

const ROUTES = [
  { match: 'GET /api/v1/whoami', upstream: 'echo', scopes: [], forwardedBy: 'gateway' },
  { match: 'GET /api/v1/orders/**', upstream: 'school', scopes: ['orders:read'] },
];

/** How each kind of gateway asks about a request to a host: the target of the question, and its fields. */
const FAMILIES = {
  nginx: (host: readonly string[], uri: string) => ({ target: '/decide/nginx', fields: original(host, uri) }),
  HAProxy: (host: readonly string[], uri: string) => ({ target: '/decide/haproxy', fields: original(host, uri) }),
  'forward auth': (host: readonly string[], uri: string) => ({
    target: '/decide/forward-auth',
    fields: ['X-Forwarded-Method', 'GET', 'X-Forwarded-Uri', uri, ...host.flatMap((one) => ['X-Forwarded-Host', one])],
  }),
  Envoy: (host: readonly string[], uri: string) => ({
    target: `/decide/envoy${uri}`,
    fields: host.flatMap((one) => ['Host', one]),
  }),
};

function original(host: readonly string[], uri: string): readonly string[] {
  return ['X-Original-Method', 'GET', 'X-Original-URI', uri, ...host.flatMap((one) => ['X-Original-Host', one])];
}

interface Question {
  /** What the gateway says of the host: usually one value. */
  readonly host: string | readonly string[];
  /** The school that the gateway's file was written for; undefined: it names none. */
  readonly file: string | undefined;
  readonly token?: string;
  readonly uri?: string;
  readonly secret?: string;
  readonly more?: readonly string[];
}

let schools: Schools;
let port: number;
let tokens: Readonly<Record<string, string>>;
beforeAll(async () => {
  port = await freePort();
  const settings = (host: string) => ({ profile: 'A', origin: `https://${host}`, routes: ROUTES });
  schools = await startSchools({
    schools: {
      one: settings(ONE),
      two: { ...settings(TWO), aliases: { 'https://b.example': 'serve', 'https://www.school.example': 'redirect' } },
    },
    main: { listen: { decisions: { address: `127.0.0.1:${port}`, secret: { env: 'DECISIONS' } } } },
    environment: { DECISIONS: SECRET },
  });
  const token = async (host: string) => (await connect(await registerApp(`https://${host}`))).access_token;
  tokens = { [ONE]: await token(ONE), [TWO]: await token(TWO), 'b.example': await token('b.example') };
});
afterAll(() => schools.close());

describe.each(Object.keys(FAMILIES) as (keyof typeof FAMILIES)[])('the questions of %s, with many schools', (name) => {
  const ask = async ({ host, file, token, uri = '/api/v1/whoami', secret = SECRET, more = [] }: Question) => {
    const { target, fields } = FAMILIES[name]([host].flat(), uri);
    const headers = [
      ...['X-Coursegate-Secret', secret, ...fields],
      ...(fields.includes('Host') ? [] : ['Host', 'coursegate']),
      ...(file === undefined ? [] : ['X-Coursegate-Config', `${file}/0123456789abcdef`]),
      ...(token === undefined ? [] : ['Authorization', `Bearer ${token}`]),
      ...more,
    ];
    const request = http.request({ port, host: '127.0.0.1', path: target, headers, agent: false });
    request.end();
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    const kept = answer.headers['x-coursegate-answer'];
    const [status, , body] =
      typeof kept === 'string'
        ? (JSON.parse(Buffer.from(kept, 'base64url').toString()) as [number, unknown, string])
        : [answer.statusCode ?? 0, undefined, text];
    return { status, body, headers: answer.headers };
  };
  const misdirected = async () => {
    const text = await (await fetch(`${schools.admin}/metrics`)).text();
    return Number(/^coursegate_misdirected_requests_total (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const refused = { status: 421, body: '421 Misdirected Request\n' };

  it('are answered by the school of the host that they are about, which they open', async () => {
    await schools.restart();
    for (const host of [ONE, TWO]) {
      const { status, headers } = await ask({ host, file: host, token: tokens[host] ?? '' });
      expect(status).toBe(200);
      expect(headers['x-member-id']).toBe('m-1001');
      const assertion = String(headers['x-coursegate-assertion']);
      const keys = createRemoteJWKSet(new URL(`https://${host}/.well-known/jwks.json`));
      expect((await jwtVerify(assertion, keys)).payload).toMatchObject({
        iss: `https://${host}`,
        htu: `https://${host}/api/v1/whoami`,
      });
    }
  });

  it('take the token of one school at the other for one that never existed', async () => {
    const never = 'A'.repeat(43);
    for (const [host, other] of [
      [ONE, TWO],
      [TWO, ONE],
    ] as const) {
      const plain = ({ status, body, headers }: Awaited<ReturnType<typeof ask>>) => {
        const { date: _, 'x-request-id': id, 'x-coursegate-answer': packed, ...fields } = headers;
        return { status, body: body.replace(/"request_id":"[^"]+"/, ''), fields };
      };
      const answer = plain(await ask({ host, file: host, token: tokens[other] ?? '' }));
      expect(answer.status).toBe(401);
      expect(answer).toEqual(plain(await ask({ host, file: host, token: never })));
    }
  });

  it('are refused if the file was written for another school, or names none', async () => {
    const before = await misdirected();
    const token = tokens[TWO] ?? '';
    for (const file of [ONE, 'b.example', `x.${TWO}`, undefined])
      expect(await ask({ host: TWO, file, token }), String(file)).toMatchObject(refused);
    const twice = ['X-Coursegate-Config', `${TWO}/0123456789abcdef`];
    expect(await ask({ host: TWO, file: ONE, token, more: twice })).toMatchObject(refused);
    expect(await misdirected()).toBe(before + 5);
  });

  it('reveal nothing about a host that no school has, and are counted', async () => {
    const before = await misdirected();
    const hosts = [
      ...['nothing.example', `x.${ONE}`, `${TWO}.`, `${TWO}:8080`, `${ONE},${TWO}`, `https://${TWO}`, ''],
      'www.school.example',
    ];
    for (const host of hosts)
      expect(await ask({ host, file: TWO, token: tokens[TWO] ?? '' }), host).toMatchObject(refused);
    expect(await misdirected()).toBe(before + hosts.length);
  });

  it('are not about a host that the gateway names twice, or not at all', async () => {
    const token = tokens[TWO] ?? '';
    const twice = await ask({ host: [TWO, ONE], file: TWO, token });
    expect(twice).toMatchObject(refused);
    expect(await ask({ host: [], file: TWO, token })).toMatchObject(refused);
  });

  it('are about the host that the gateway names, whatever a client says in other fields', async () => {
    const fields = { nginx: 'X-Original', HAProxy: 'X-Original', 'forward auth': 'X-Forwarded', Envoy: 'none' };
    const client = ['X-Forwarded-Host', 'X-Original-Host', 'Forwarded'].filter((field) => {
      return !field.startsWith(fields[name]);
    });
    const more = client.flatMap((field) => [field, field === 'Forwarded' ? `host=${ONE}` : ONE]);
    expect((await ask({ host: TWO, file: TWO, token: tokens[ONE] ?? '', more })).status).toBe(401);
    expect((await ask({ host: TWO, file: TWO, token: tokens[TWO] ?? '', more })).status).toBe(200);
  });

  it('are not answered without the secret, whatever their host', async () => {
    for (const host of [TWO, 'nothing.example'])
      expect((await ask({ host, file: TWO, secret: `${SECRET}x`, token: tokens[TWO] ?? '' })).status).toBe(503);
  });

  it('are about routes of that school which a gateway forwards, and no others', async () => {
    expect((await ask({ host: TWO, file: TWO, uri: '/api/v1/orders/1' })).status).toBe(404);
    expect((await ask({ host: TWO, file: TWO, uri: '/' })).status).toBe(404);
  });

  it('are answered at another address of a school, with an assertion that its backend takes', async () => {
    const { status, headers } = await ask({ host: 'b.example', file: TWO, token: tokens['b.example'] ?? '' });
    expect(status).toBe(200);
    const keys = createRemoteJWKSet(new URL(`https://${TWO}/.well-known/jwks.json`));
    expect((await jwtVerify(String(headers['x-coursegate-assertion']), keys)).payload).toMatchObject({
      iss: `https://${TWO}`,
      htu: `https://${TWO}/api/v1/whoami`,
    });
    expect((await ask({ host: 'b.example', file: TWO, token: tokens[TWO] ?? '' })).status).toBe(401);
  });
});
