import { afterAll, beforeAll, expect, it } from 'vitest';
import { rawSocket } from '../support/raw-socket.ts';
import { type StrictRequest, valuesOf } from '../support/strict-http.ts';
import { envoy } from './kinds/envoy.ts';
import { ask } from './support/ask.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
});
afterAll(() => world.close());

describeKinds([envoy], '$name', (kind) => {
  const from = '127.0.3.1';
  let gateway: RunningGateway;
  let bearer: string;
  beforeAll(async () => {
    world.backend.script((_, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    gateway = await world.gateway(kind);
    bearer = `Authorization: Bearer ${(await world.connect('m-1')).access_token}`;
    world.backend.take();
  });
  afterAll(() => gateway?.close());

  const get = (target: string, fields: readonly string[] = []) =>
    ask(world.port, { host: world.host, target, fields, from });
  const names = ({ headers }: StrictRequest) =>
    headers.map(([name]) => name.toLowerCase()).filter((name) => !['connection', 'content-length'].includes(name));
  const received = (): StrictRequest => {
    const [one, ...more] = world.backend.take();
    if (one === undefined || more.length > 0) throw new Error('the backend got several requests, or none');
    return one;
  };

  it('removes every field that the gate would not send, also those from which Envoy takes orders', async () => {
    const fields = [
      ...[
        'Accept: text/html',
        'Accept-Encoding: br',
        'X-Allowed: 1',
        'User-Agent: test',
        'Cookie: a=b',
        'DPoP: x',
        'X-Unknown: 1',
      ],
      ...[
        'X-Member-Id: admin',
        'X_Member_Id: admin',
        'X.Member.Id: admin',
        'x-mEmber-id: admin',
        'X-Site-Trusts-This: 1',
      ],
      ...[
        'X-Envoy-Original-Path: /admin',
        'X-Envoy-Upstream-Rq-Timeout-Ms: 1',
        'X-Envoy-Max-Retries: 3',
        'X-Forwarded-For: 1.2.3.4',
      ],
      ...['X-Envoy-Auth-Headers-To-Remove: accept', 'X-Coursegate-Secret: x', bearer],
    ];
    expect((await get('/member/x?a=%2e%2e', fields)).status).toBe(200);
    const forwarded = received();
    expect((await ask(world.gatePort, { host: world.host, target: '/member/x?a=%2e%2e', fields, from })).status).toBe(
      200,
    );
    const proxied = received();
    expect(forwarded.target).toBe('/member/x?a=%2e%2e');
    // Behind Envoy, the gate forwards nothing itself, and so adds no Via.
    const withoutVia = names(proxied).filter((name) => name !== 'via');
    expect(names(forwarded).toSorted()).toEqual(withoutVia.toSorted());
    expect(valuesOf(forwarded.headers, 'x-forwarded-for')).toEqual([from]);
    expect(valuesOf(forwarded.headers, 'accept')).toEqual(['text/html']);
  });

  it.each([
    '/%6dember/x',
    '/%4Dember/x',
    '/MEMBER',
    '/member%20',
    '/member%09/x',
    '/member./x',
    '/;a/member/x',
    '/member%2fx',
  ])('sends no protected path in escapes or other spellings to the site: %s', async (target) => {
    expect([400, 401, 404]).toContain((await get(target)).status);
    expect(world.backend.take()).toEqual([]);
  });

  it('sends the site its own paths as they are', async () => {
    for (const target of ['/pages/~jo/caf%C3%A9?x=//a/../b', '/members'])
      expect([target, (await get(target)).status, received().target]).toEqual([target, 200, target]);
  });

  it('lets caches keep what is for anyone, and the site set cookies', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: public\r\nSet-Cookie: a=b\r\n\r\nok';
    world.backend.script((_, socket) => void socket.write(answer));
    const anonymous = await get('/public/x');
    expect(valuesOf(anonymous.headers, 'cache-control')).toEqual(['public']);
    expect(valuesOf(anonymous.headers, 'vary')).toEqual(['Authorization']);
    expect(valuesOf((await get('/pages/x')).headers, 'set-cookie')).toEqual(['a=b']);
    world.backend.take();
  });

  it.each([
    ['too large', '/member/x', '10485761', /^HTTP\/1\.1 413 .*application\/problem\+json.*"code":"payload_too_large"/s],
    ['of a length with leading zeros', '/pages/x', '003', /^HTTP\/1\.1 400 /],
  ])('refuses a body before it is sent: %s', async (_, target, length, answer) => {
    const connection = await rawSocket(world.port);
    const head = [`PUT ${target} HTTP/1.1`, `Host: ${world.host}`, bearer, `Content-Length: ${length}`];
    connection.write(`${head.join('\r\n')}\r\n\r\n`);
    await connection.until(answer);
    connection.socket.destroy();
    expect(world.backend.take()).toEqual([]);
  });

  it('passes a body of 1 MiB through without coursegate, and an event as soon as it is sent', async () => {
    const body = 'x'.repeat(1024 ** 2);
    world.backend.script((_, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const fields = [bearer, 'Content-Type: application/json'];
    const put = { host: world.host, target: '/member/x', method: 'PUT', fields, body };
    expect((await ask(world.port, put)).status).toBe(200);
    expect(received().body.length).toBe(body.length);
    const event = 'd\r\ndata: first\n\n\r\n';
    world.backend.script((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${event}`);
    });
    const connection = await rawSocket(world.port);
    connection.write(`GET /member/x HTTP/1.1\r\nHost: ${world.host}\r\n${bearer}\r\n\r\n`);
    await connection.until(/data: first/);
    connection.socket.destroy();
    world.backend.hangUp();
    world.backend.take();
  });
});
