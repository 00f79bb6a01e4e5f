import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { SAM } from '../support/member.ts';
import { freePort, startWorld, type World } from '../support/world.ts';

const SECRET = 'a-secret-of-the-gateway-0123456789';
const THEIRS = { upstream: 'school', forwardedBy: 'gateway' };
const ROUTES = [
  { match: 'GET|POST /api/v1/courses/**', ...THEIRS, scopes: ['courses:read'] },
  { match: 'GET /open/**', ...THEIRS, anonymous: 'serve' },
  { match: 'GET /few/**', ...THEIRS, anonymous: 'serve', limits: { address: { requests: 1, per: '1h' } } },
];

type Field = readonly [name: string, value: string];

interface Answered {
  readonly status: number;
  /** The values of a field, by its name in lower case. */
  readonly values: (name: string) => readonly string[];
  readonly text: string;
}

let world: World;
let port: number;
let token: string;

beforeAll(async () => {
  port = await freePort();
  world = await startWorld({
    profile: 'A',
    environment: { DECISIONS: SECRET },
    overrides: {
      listen: { decisions: { address: `127.0.0.1:${port}`, secret: { env: 'DECISIONS' } } },
      routes: ROUTES,
      account: undefined,
    },
  });
  const parameters = { scope: 'openid courses:read' };
  token = (await connect(await registerApp(world.origin), { member: SAM, parameters })).access_token;
});

afterAll(() => world.close());

const withToken = (): Field => ['authorization', `Bearer ${token}`];

/** Asks as Envoy does, for a client at `from`. */
function ask(target: string, fields: readonly Field[] = [], from = '203.0.113.7'): Promise<Answered> {
  const ours: readonly Field[] = [
    ['host', new URL(world.origin).host],
    ['x-coursegate-secret', SECRET],
    ['x-forwarded-for', from],
  ];
  return new Promise((resolve, reject) => {
    const path = `/decide/envoy${target}`;
    const headers = [...ours, ...fields].flat();
    const sent = httpRequest({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headersDistinct } = response;
        const values = (name: string) => headersDistinct[name] ?? [];
        resolve({ status, values, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject).end();
  });
}

const removedBy = ({ values }: Answered) => values('x-envoy-auth-headers-to-remove').flatMap((list) => list.split(','));

describe('Envoy', () => {
  it('is told to set the identity and the fields of the gate in place of the client’s', async () => {
    const answered = await ask('/api/v1/courses/7?a=b', [
      withToken(),
      ['x-member-id', 'admin'],
      ['x-request-id', 'request-7'],
    ]);
    expect(answered.status).toBe(200);
    expect(answered.values('x-member-id')).toEqual(['m-1001']);
    expect(answered.values('x-forwarded-for')).toEqual(['203.0.113.7']);
    expect(answered.values('x-forwarded-host')).toEqual([new URL(world.origin).host]);
    // For the backend and for the client.
    expect(answered.values('x-request-id')).toEqual(['request-7']);
    expect(answered.values('access-control-allow-origin')).toEqual(['*']);
    expect(removedBy(answered)).not.toContain('x-member-id');
    expect(removedBy(answered)).toContain('authorization');
  });

  it('is told to remove every field that the gate would not send to the backend, in whatever spelling, and no other', async () => {
    const passed: Field[] = [
      ['accept', 'text/html'],
      ['content-type', 'application/json'],
      ['if-none-match', '"a"'],
    ];
    const removed: Field[] = [
      ['cookie', 'a=b'],
      ['dpop', 'x'],
      ['x_member_id', 'admin'],
      ['x.member.id', 'admin'],
      ['x-member~id', 'admin'],
      ['remote-user', 'admin'],
      ['x-original-url', '/admin'],
      ['x-http-method-override', 'DELETE'],
      ['x-envoy-original-path', '/admin'],
      ['x-site-trusts-this', 'yes'],
      ['x-coursegate-secret-of-mine', 'x'],
    ];
    const answered = await ask('/open/x', [...passed, ...removed]);
    const names = ['x-member-id', 'x-member-email', 'x-member-name', 'x-member-scope', 'x-client-id'];
    const ours = ['x-coursegate-assertion', 'x-coursegate-secret', 'connection'];
    expect(removedBy(answered).toSorted()).toEqual([...removed.map(([name]) => name), ...names, ...ours].toSorted());
    for (const name of names) expect(answered.values(name)).toEqual(['']);
  });

  it('is refused what repeats a credential that Envoy has joined', async () => {
    const { status, text } = await ask('/api/v1/courses/7', [['authorization', `Bearer ${token},Bearer ${token}`]]);
    expect(status).toBe(401);
    expect(JSON.parse(text).error_description).toBe('more than one Authorization header');
  });

  it('is limited by the address that connected to it', async () => {
    const from = '203.0.113.50';
    expect((await ask('/few/a', [], from)).status).toBe(200);
    expect((await ask('/few/a', [], `192.0.2.1, ${from}`)).status).toBe(429);
    expect((await ask('/few/a', [], '203.0.113.99')).status).toBe(200);
  });
});
