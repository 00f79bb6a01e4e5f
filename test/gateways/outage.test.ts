import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawSocket } from '../support/raw-socket.ts';
import { type StrictAnswer, valuesOf } from '../support/strict-http.ts';
import { freePort } from '../support/world.ts';
import { ask } from './support/ask.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { impatient, installedKinds } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

const KINDS = installedKinds();

/** A gateway beside the others: all of them see the same outage. */
interface Front {
  readonly name: string;
  readonly port: number;
  readonly gateway: RunningGateway;
}

/** Traefik cannot write a body itself. */
const NO_BODY: readonly string[] = ['traefik-auth'];

describe.skipIf(KINDS.length === 0)('every gateway without the gate', () => {
  let world: PluginWorld;
  let fronts: readonly Front[] = [];
  let token: string;
  beforeAll(async () => {
    world = await startPluginWorld({ separate: true });
    const started = world.gate.start();
    fronts = await Promise.all(
      KINDS.map(async (kind, at) => {
        const port = at === 0 ? world.port : await freePort();
        return { name: kind.name, port, gateway: await world.gateway(kind, { change: impatient, port }) };
      }),
    );
    await started;
    token = (await world.connect('m-1')).access_token;
  });
  afterAll(async () => {
    await Promise.all(fronts.map(({ gateway }) => gateway.close()));
    await world?.close();
  });

  const everywhere = <T>(work: (front: Front) => Promise<T>) => Promise.all(fronts.map(work));
  const get = ({ port }: Front, target: string, fields: readonly string[] = []) =>
    ask(port, { host: world.host, target, fields });
  const asMember = () => [`Authorization: Bearer ${token}`];
  /** What came through since the last call, without the requests of `allIsWell`. */
  const seen = () => world.backend.take().map(({ target }) => target);
  const everyPage = () => fronts.map(({ name }) => `/pages/${name}`).toSorted();

  const isUnavailable = ({ name }: Front, { status, headers, body }: StrictAnswer) => {
    expect(status, name).toBe(503);
    expect(valuesOf(headers, 'retry-after'), name).toEqual(['5']);
    if (NO_BODY.includes(name)) return;
    expect(valuesOf(headers, 'content-type').join(), name).toContain('application/problem+json');
    expect(JSON.parse(body), name).toMatchObject({ status: 503, code: 'store_unavailable' });
  };

  /** Routes are unavailable to everybody, the backend sees none of it, and the rest of the site goes on. */
  const onlyTheSiteWorks = async () => {
    await everywhere(async (front) => {
      const routes = Promise.all([
        get(front, '/member/x', asMember()),
        get(front, '/member/x'),
        get(front, '/public/x'),
      ]);
      expect((await get(front, `/pages/${front.name}`)).status, front.name).toBe(200);
      for (const answer of await routes) isUnavailable(front, answer);
    });
    expect(seen().toSorted()).toEqual(everyPage());
  };

  const allIsWell = async () => {
    await everywhere(async (front) => {
      const status = async (target: string, fields?: readonly string[]) => (await get(front, target, fields)).status;
      await expect.poll(() => status('/member/x', asMember()), { interval: 50 }).toBe(200);
      expect([await status('/member/x'), await status('/public/x')], front.name).toEqual([401, 200]);
    });
    expect(new Set(seen())).toEqual(new Set(['/member/x', '/public/x']));
  };

  it('answers 503 while it hangs, and serves the rest of the site', async () => {
    world.backend.take();
    await allIsWell();
    world.gate.signal('SIGSTOP');
    await onlyTheSiteWorks();
    world.gate.signal('SIGCONT');
    await allIsWell();
  });

  it('answers 503 when it is killed in the middle of a decision', async () => {
    world.gate.signal('SIGSTOP');
    const asked = await everywhere(async (front) => {
      const connection = await rawSocket(front.port);
      const head = ['GET /member/x HTTP/1.1', `Host: ${world.host}`, 'Connection: close', ...asMember()];
      connection.write(`${head.join('\r\n')}\r\n\r\n`);
      // So that the gateway has asked.
      expect((await get(front, `/pages/${front.name}`)).status).toBe(200);
      return { front, connection };
    });
    await world.gate.kill();
    for (const { front, connection } of asked) {
      await connection.closed;
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(connection.received())?.[1]);
      expect(status, front.name).toBe(503);
    }
    expect(seen().toSorted()).toEqual(everyPage());
  });

  it('answers 503 while it is down and while it starts again, and then works as before', async () => {
    await onlyTheSiteWorks();
    let over = false;
    const started = world.gate.start().finally(() => {
      over = true;
    });
    while (!over) {
      const statuses = await everywhere(async (front) => (await get(front, '/public/x')).status);
      expect([200, 503]).toEqual(expect.arrayContaining(statuses));
      await sleep(25);
    }
    await started;
    world.backend.take();
    await allIsWell();
    expect((await world.connect('m-1')).access_token).toBeTruthy();
  });
});
