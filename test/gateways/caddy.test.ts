import { afterAll, beforeAll, expect, it } from 'vitest';
import { caddy } from './kinds/caddy.ts';
import { ask } from './support/ask.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

/** RFC 9110 section 5.6.2. */
const SIGNS = "!#$%&'*+.^_`|~";

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script((_request, socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
});
afterAll(() => world.close());

describeKinds([caddy], 'the rest of the site behind $name', (kind) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
  });
  afterAll(() => gateway?.close());

  it('gets no identity field with another sign in its name, and every other field', async () => {
    const forged = [...SIGNS].flatMap((sign) =>
      ['-', sign].map((first) => `X${first}Member${sign}Id: 1001`).concat(`X${sign}Client-Id: 1001`),
    );
    const fields = [...forged, 'X-Other: 1002'];
    expect((await ask(world.port, { host: world.host, target: '/pages/x', fields })).status).toBe(200);
    const [seen] = world.backend.take();
    expect(seen?.headers.filter(([, value]) => /^100[12]$/.test(value))).toEqual([['X-Other', '1002']]);
  });
});
