import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, SERVERS, serverPresent, startServer } from '../support/http-server.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { rawSocket } from '../support/raw-socket.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { SMUGGLED } from '../support/smuggling.ts';
import { type StrictRequest, valuesOf } from '../support/strict-http.ts';

/** Responds with the sender and target of the request, so that a swapped response is visible. */
const echo = (upstream: ScriptedUpstream) =>
  upstream.script(({ target }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
  });

/** Sends every variant on its own connection, eight at a time, followed by a normal request, and reads the responses. */
async function sendAll(port: number, host: string): Promise<void> {
  const waiting = SMUGGLED.map(({ bytes }, number) =>
    `${bytes}GET LANE/next HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n`
      .replaceAll('HOST', host)
      .replaceAll('LANE', `/public/${number}`),
  );
  const sender = async () => {
    for (let bytes = waiting.pop(); bytes !== undefined; bytes = waiting.pop()) {
      const connection = await rawSocket(port);
      connection.write(bytes);
      // Some hops wait for the rest of what they read as a body.
      const timer = setTimeout(() => connection.socket.destroy(), 400);
      await connection.closed;
      clearTimeout(timer);
    }
  };
  await Promise.all(Array.from({ length: 8 }, sender));
}

/** Every request at the last hop was read as exactly one request by each hop before it. */
async function agree(seen: readonly StrictRequest[], gate: ProxyWorld): Promise<void> {
  for (const name of ['x-hop-id', 'x-request-id']) {
    const ids = seen.map(({ headers }) => valuesOf(headers, name));
    expect(
      ids.filter((own) => own.length !== 1),
      name,
    ).toEqual([]);
    expect(new Set(ids.flat()).size, name).toBe(seen.length);
  }
  for (const { headers, target } of seen) {
    const [id] = valuesOf(headers, 'x-request-id');
    await expect.poll(() => gate.log().includes(`"request_id":"${id}"`), { message: target }).toBe(true);
    expect(target).toMatch(/^\/public\/(\d+\/(x|next)|sane-\d+)$/);
  }
  // Each variant is at most two requests: itself and the one that follows.
  expect(new Set(seen.map(({ target }) => target)).size).toBe(seen.length);
}

async function sane(port: number, host: string): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/public/sane-${n}`, { headers: { host } });
    expect(await response.text()).toBe(`/public/sane-${n}`);
  }
}

for (const name of SERVERS)
  describe.skipIf(!serverPresent(name))(name, () => {
    describe('in front of the gate', () => {
      let upstream: ScriptedUpstream;
      let gate: ProxyWorld;
      let front: HttpServer;
      beforeAll(async () => {
        upstream = await startScriptedUpstream();
        echo(upstream);
        gate = await startProxyWorld({ upstream: upstream.url });
        front = await startServer(name, gate.port);
      });
      afterAll(async () => {
        await front.close();
        await gate.close();
        await upstream.close();
      });

      it('B096: front, gate and upstream see the same requests for every variant', async () => {
        await sendAll(front.port, gate.host);
        await sane(front.port, gate.host);
        const seen = upstream.take();
        await agree(seen, gate);
        // If no request came through, the hops would agree trivially.
        expect(seen.length).toBeGreaterThan(30);
      });
    });

    describe('behind the gate', () => {
      let upstream: ScriptedUpstream;
      let gate: ProxyWorld;
      let back: HttpServer;
      beforeAll(async () => {
        upstream = await startScriptedUpstream();
        echo(upstream);
        back = await startServer(name, upstream.port);
        gate = await startProxyWorld({ upstream: `http://127.0.0.1:${back.port}` });
      });
      afterAll(async () => {
        await gate.close();
        await back.close();
        await upstream.close();
      });

      it('B096: gate, back and upstream see the same requests for every variant', async () => {
        await sendAll(gate.port, gate.host);
        await sane(gate.port, gate.host);
        const seen = upstream.take();
        await agree(seen, gate);
        const expected = SMUGGLED.flatMap(({ gate: judged }, number) =>
          judged === 'refused'
            ? []
            : [`/public/${number}/x`, ...(judged.then === 'next' ? [`/public/${number}/next`] : [])],
        );
        const variants = seen.map(({ target }) => target).filter((target) => !target.includes('sane'));
        expect(variants.toSorted()).toEqual(expected.toSorted());
      });
    });
  });
