import { afterAll, beforeAll, expect, it } from 'vitest';
import { send } from './support/ask.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { OUTSIDE, PLAIN_TARGETS } from './support/outside.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script((_request, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
});
afterAll(() => world.close());

/** An identity in any spelling that a backend may fold. */
const IDENTITY = /^x[^a-z0-9](member|member[^a-z0-9].*|client[^a-z0-9]id|coursegate[^a-z0-9].*)$/i;

describeKinds(KINDS, 'a stranger in front of $name', (kind) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
  });
  afterAll(() => gateway?.close());

  async function sent(target: string, fields: readonly string[] = []) {
    const head = [`GET ${target} HTTP/1.1`, `Host: ${world.host}`, 'Connection: close', ...fields];
    const answer = await send(world.port, `${head.join('\r\n')}\r\n\r\n`, 5_000);
    return { status: Number(answer.slice(9, 12)), seen: world.backend.take() };
  }

  it.each(OUTSIDE)('reaches no backend as a member by $what', async ({ target, fields, plain }) => {
    const { status, seen } = await sent(target, fields);
    const identity = seen.flatMap(({ headers }) =>
      headers.filter(([name, value]) => IDENTITY.test(name) && value !== ''),
    );
    expect(identity).toEqual([]);
    // Traefik resolves dot segments and repeated slashes itself, and decides about the result.
    if (plain !== true && kind.cleansPaths !== true) expect(seen.map((one) => one.target)).toEqual([]);
    expect(status).toBeLessThan(500);
  });

  it.each(PLAIN_TARGETS)('gets the site’s own page at %s', async (target) => {
    const { status, seen } = await sent(target);
    // Traefik decodes what needs no escape, and takes semicolons in a query for ampersands.
    const received = kind.cleansPaths === true ? target.replace('%2D', '-').replace(/;(?=a=)/, '&') : target;
    expect([status, seen.map((one) => one.target)]).toEqual([200, [received]]);
  });
});
