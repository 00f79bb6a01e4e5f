import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { valuesOf } from '../support/strict-http.ts';
import { caddy } from './kinds/caddy.ts';
import { nginx, nginxMainline } from './kinds/nginx.ts';
import { traefik } from './kinds/traefik.ts';
import { type Asked, ask } from './support/ask.ts';
import { asRead } from './support/backend-view.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

const IDENTITY = [
  'x-member-id',
  'x-member-email',
  'x-member-name',
  'x-member-scope',
  'x-client-id',
  'x-coursegate-assertion',
];

let world: PluginWorld;
let member: string;
let narrow: string;

beforeAll(async () => {
  world = await startPluginWorld({ separate: true });
  await world.gate.start();
  world.backend.script(({ target }, socket) => {
    if (target.endsWith('/cut')) socket.destroy();
    else if (target.endsWith('/busy'))
      socket.write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\nRetry-After: 77\r\n\r\nno');
    else if (target.endsWith('/stream'))
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: first\n\n\r\n',
      );
    else
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: a=b\r\nCache-Control: public, max-age=60\r\nX-Accel-Redirect: /sorry.html\r\n\r\nok',
      );
  });
});
afterAll(() => world?.close());

describeKinds([nginx, nginxMainline, caddy, traefik], 'the file for $name', (kind) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
    member ??= (await world.connect('m-1')).access_token;
    narrow ??= (await world.connect('m-1', { scope: 'openid' })).access_token;
  });
  afterAll(() => gateway?.close());

  /** Sends a request to the gateway, and returns the answer and what the backend received. */
  async function through(asked: Omit<Asked, 'host'>, token?: string) {
    world.backend.take();
    const fields = [...(asked.fields ?? []), ...(token === undefined ? [] : [`Authorization: Bearer ${token}`])];
    const answer = await ask(world.port, { host: world.host, ...asked, fields });
    const field = (name: string) => valuesOf(answer.headers, name).join(', ');
    return { ...answer, field, seen: world.backend.take().map((request) => asRead(kind, request)) };
  }

  it('forwards a member’s request with the member’s identity', async () => {
    const fields = ['X-Member-Id: evil', 'X_Member_Id: evil', 'Cookie: a=b', 'Accept: application/json'];
    const { status, body, field, seen } = await through({ target: '/member/a%20b?c=%2F&d', fields }, member);
    expect([status, body]).toEqual([200, 'ok']);
    const [request] = seen;
    expect(request?.target).toBe('/member/a%20b?c=%2F&d');
    const values = (name: string) => valuesOf(request?.headers ?? [], name);
    expect(values('x-member-id')).toEqual(['m-1']);
    expect(decodeJwt(values('x-coursegate-assertion').join())).toMatchObject({
      htm: 'GET',
      htu: `${world.origin}/member/a%20b`,
    });
    expect(values('accept')).toEqual(['application/json']);
    expect(values('host')).toEqual([world.host]);
    for (const name of ['authorization', 'cookie', 'x_member_id', 'x-coursegate-secret', 'x-coursegate-config'])
      expect([name, values(name)]).toEqual([name, []]);
    expect(field('set-cookie')).toBe('');
    expect(field('cache-control')).toBe('private, no-store');
    expect(field('access-control-allow-origin')).toBe('*');
  });

  it('forwards an anonymous request without any identity', async () => {
    const { status, seen } = await through({ target: '/public/x', fields: IDENTITY.map((name) => `${name}: evil`) });
    expect(status).toBe(200);
    for (const name of IDENTITY) expect(valuesOf(seen[0]?.headers ?? [], name).join('')).toBe('');
  });

  it('gives the client the challenge for a request without a token', async () => {
    const { status, field, body, seen } = await through({ target: '/member/x' });
    expect(status).toBe(401);
    expect(field('www-authenticate')).toContain(
      `resource_metadata="${world.origin}/.well-known/oauth-protected-resource"`,
    );
    expect(field('content-type')).toBe('application/json');
    expect(JSON.parse(body)).toHaveProperty('error');
    expect(seen).toEqual([]);
  });

  it('gives the client the challenge for a token without the scope', async () => {
    const { status, field, seen } = await through({ target: '/member/x' }, narrow);
    expect(status).toBe(403);
    expect(field('www-authenticate')).toMatch(/^Bearer .*error="insufficient_scope".*scope="openid courses:read"/);
    expect(seen).toEqual([]);
  });

  it.each<[string, string, number]>([
    ['GET', '/MEMBER/x', 404],
    ['POST', '/reading/x', 405],
    ['GET', kind.cleansPaths === true ? '/member;a=b/x' : '/member//x', 400],
    ['GET', '/member/x%0a', 400],
    ['M-SEARCH', '/member/x', 400],
  ])('gives the gate’s answer to %s %s', async (method, target, status) => {
    const answer = await through({ method, target }, member);
    expect([answer.status, answer.seen]).toEqual([status, []]);
    expect(JSON.parse(answer.body)).toMatchObject({ status });
  });

  it('lets the gate answer a preflight', async () => {
    const fields = ['Origin: https://app.example', 'Access-Control-Request-Method: PUT'];
    const { status, field, seen } = await through({ method: 'OPTIONS', target: '/member/x', fields });
    expect(status).toBe(204);
    expect(field('access-control-allow-methods')).toContain('PUT');
    expect(seen).toEqual([]);
  });

  it('lets the gate forward the routes that it forwards itself', async () => {
    const { status, seen } = await through({ target: '/through/x' }, member);
    expect(status).toBe(200);
    expect(valuesOf(seen[0]?.headers ?? [], 'x-member-id')).toEqual(['m-1']);
    expect((await through({ target: '/.well-known/oauth-protected-resource' })).status).toBe(200);
  });

  it('forwards a body of 1 MiB, and none that is refused', async () => {
    const body = JSON.stringify('x'.repeat(1024 ** 2));
    const post = { method: 'POST', target: '/member/x', fields: ['Content-Type: application/json'], body };
    const { status, seen } = await through(post, member);
    expect([status, seen[0]?.body.length]).toEqual([200, body.length]);
    const refused = await through(post);
    expect([refused.status, refused.seen]).toEqual([401, []]);
  });

  it('passes on an event stream without buffering', async () => {
    const stop = new AbortController();
    const answer = await fetch(`${world.origin}/member/stream`, {
      headers: { authorization: `Bearer ${member}`, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    const first = await answer.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('data: first');
    stop.abort();
  });

  it('leaves the rest of the site as it is, without identities from clients', async () => {
    const { status, seen } = await through({ target: '/shop?x', fields: ['Cookie: a=b', 'X-Other: y'] });
    expect(status).toBe(200);
    expect(seen[0]?.target).toBe('/shop?x');
    expect(valuesOf(seen[0]?.headers ?? [], 'cookie')).toEqual(['a=b']);
    expect(valuesOf(seen[0]?.headers ?? [], 'x-other')).toEqual(['y']);
    const forged = await through({
      target: '/shop',
      fields: ['X-Member-Id: evil', 'X_Member_Id: evil', 'X.Member.Id: evil'],
    });
    expect(JSON.stringify(forged.seen)).not.toContain('evil');
  });

  it('passes on no description of the request from clients', async () => {
    const fields = [
      'X-Forwarded-Uri: /evil',
      'X-Forwarded-Method: EVIL',
      'X-Original-URI: /evil',
      'X-Rewrite-URL: /evil',
    ];
    const { status, seen } = await through({ target: '/member/x', fields }, member);
    expect(status).toBe(200);
    expect(JSON.stringify(seen[0]?.headers).toLowerCase()).not.toContain('evil');
  });

  it('says 502 when the backend gives no response', async () => {
    expect((await through({ target: '/member/cut' }, member)).status).toBe(502);
  });

  it('passes on a 503 of the backend as it is', async () => {
    const { status, body, headers } = await through({ target: '/member/busy' }, member);
    expect([status, body, valuesOf(headers, 'retry-after')]).toEqual([503, 'no', ['77']]);
  });

  it('answers 503 while the gate is down, and passes nothing on', async () => {
    await world.gate.kill();
    try {
      for (const token of [member, undefined]) {
        const { status, field, body, seen } = await through({ target: '/member/x' }, token);
        expect(seen).toEqual([]);
        expect([status, field('retry-after')]).toEqual([503, '5']);
        // Traefik cannot write a body itself.
        if (kind.server !== 'traefik-auth') expect(JSON.parse(body).code).toBe('store_unavailable');
      }
      if (kind.server === 'nginx-auth')
        expect(JSON.parse((await through({ target: '/through/x' })).body).code).toBe('store_unavailable');
      expect((await through({ target: '/shop' })).status).toBe(200);
    } finally {
      await world.gate.start();
    }
    expect((await through({ target: '/member/x' }, member)).status).toBe(200);
  });
});
