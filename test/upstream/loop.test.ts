import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { type GateProcess, gateProcess, schoolOf } from '../faults/gate-process.ts';
import { registerApp } from '../support/app.ts';
import { connect as connectApp, statusOf } from '../support/connection.ts';
import { freePort } from '../support/world.ts';

/** Between the gate and its school is a relay, as a misconfigured web server could be, which leads back to the gate. */
describe('a proxy loop', () => {
  let gate: GateProcess;
  let school: School;
  let relay: Server;
  let port: number;
  let looping = false;
  /** What arrived at the relay, and its connections. */
  let arrived = '';
  let own = '';

  beforeAll(async () => {
    port = await freePort();
    const origin = `http://localhost:${port}`;
    own = `1.1 coursegate-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}`;
    school = await schoolOf(origin);
    relay = createServer((socket) => {
      const to = connect(looping ? port : Number(new URL(school.urls.school).port), 'localhost');
      socket.on('data', (bytes) => {
        arrived += bytes.toString('latin1');
      });
      for (const one of [socket, to]) one.on('error', () => undefined);
      socket.pipe(to).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    gate = await gateProcess({
      school,
      origin,
      environment: { PORT: String(port), COURSEGATE__UPSTREAMS__SCHOOL__URL: url },
    });
    await gate.start();
  });
  afterAll(async () => {
    await gate.close();
    relay.close();
    await school.close();
  });
  beforeEach(() => {
    looping = false;
    arrived = '';
  });

  const viaOf = () => [...arrived.matchAll(/^via: (.*)\r$/gim)].map((found) => found[1]);
  const requests = () => arrived.match(/ HTTP\/1\.1\r\n/g)?.length ?? 0;
  const loops = () =>
    gate
      .log()
      .split('\n')
      .filter((line) => line.includes('came back to this gate'));
  /** New connections of the gate to the relay, which each lead to one place only. */
  const loop = async () => {
    await gate.kill();
    looping = true;
    await gate.start();
  };

  it('is told apart from gates and proxies in front, whose names in Via stay', async () => {
    const { status } = await fetch(`${gate.origin}/login`, {
      headers: { via: '1.0 fred, 1.1 coursegate-0123456789abcdef' },
    });
    expect(status).toBe(200);
    expect(viaOf()).toEqual([`1.0 fred, 1.1 coursegate-0123456789abcdef, ${own}`]);
  });

  it('of the site ends with 508 after one pass, and with one line in the log', async () => {
    await loop();
    for (const accept of ['text/html', 'application/json']) {
      const answer = await fetch(`${gate.origin}/en/learn/`, { headers: { accept } });
      expect(answer.status).toBe(508);
      expect(await answer.text()).toContain('sends requests back to this one');
    }
    expect(requests()).toBe(2);
    expect(viaOf()).toEqual([own, own]);
    await vi.waitUntil(() => loops().length > 0, { timeout: 30_000 });
    expect(loops()).toHaveLength(1);
    expect(JSON.parse(loops()[0] ?? '')).toMatchObject({ level: 40, method: 'GET', path: '/en/learn/' });
    expect(gate.log()).not.toContain('"level":50');
  });

  it('of a WebSocket ends with 508', async () => {
    await loop();
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(port, 'localhost', () =>
        socket.write(
          `GET /live HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
        ),
      );
      socket.on('data', (bytes) => {
        text += bytes.toString();
        socket.end();
      });
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 508 Loop Detected\r\n/);
    expect(requests()).toBe(1);
    expect(loops()).toHaveLength(1);
  });

  it('of a protected route ends with 508', async () => {
    await gate.kill();
    await gate.start();
    const app = await registerApp(gate.origin);
    const { access_token } = await connectApp(app);
    expect(await statusOf(gate.origin, access_token)).toBe(200);
    expect(viaOf().at(-1)).toBe(own);
    await loop();
    expect(await statusOf(gate.origin, access_token)).toBe(508);
    expect(requests()).toBeLessThan(20);
    expect(loops()).toHaveLength(1);
  });
});
