import { afterAll, beforeAll, expect, it } from 'vitest';
import { nginx, nginxMainline } from './kinds/nginx.ts';
import { send } from './support/ask.ts';
import { asRead } from './support/backend-view.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { inside, OUTSIDE, PLAIN_TARGETS } from './support/outside.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script(({ target }, socket) => {
    const [, accelerated] = /^\/pages\/accel\?(.*)$/.exec(target) ?? [];
    const more = accelerated === undefined ? '' : `X-Accel-Redirect: ${accelerated}\r\n`;
    socket.write(`HTTP/1.1 200 OK\r\n${more}Content-Length: 2\r\n\r\nok`);
  });
});
afterAll(() => world.close());

/** An identity in any spelling that a backend may fold. */
const IDENTITY = /^x[^a-z0-9](member|member[^a-z0-9].*|client[^a-z0-9]id|coursegate[^a-z0-9].*)$/i;

async function sent(target: string, fields: readonly string[] = []) {
  const head = [`GET ${target} HTTP/1.1`, `Host: ${world.host}`, 'Connection: close', ...fields];
  const answer = await send(world.port, `${head.join('\r\n')}\r\n\r\n`, 5_000);
  return { status: Number(answer.slice(9, 12)), seen: world.backend.take() };
}

describeKinds(KINDS, 'a stranger in front of $name', (kind) => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
  });
  afterAll(() => gateway?.close());

  it.each(OUTSIDE)('reaches no backend as a member by $what', async ({ target, fields, plain }) => {
    const { status, seen } = await sent(target, fields);
    const identity = seen.flatMap((request) =>
      asRead(kind, request).headers.filter(([name, value]) => IDENTITY.test(name) && value !== ''),
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

describeKinds([nginx, nginxMainline], 'a stranger who knows the internal locations of $name', (kind) => {
  let gateway: RunningGateway;
  let name = '';
  beforeAll(async () => {
    gateway = await world.gateway(kind, {
      change(snippet) {
        name = /location \^~ \/(\w+)\/ \{/.exec(snippet)?.[1] ?? '';
        return snippet;
      },
    });
  });
  afterAll(() => gateway?.close());

  it('reaches none of them', async () => {
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    const found: unknown[] = [];
    for (const { target, fields } of inside(name)) {
      const { status, seen } = await sent(target, fields);
      if (seen.length > 0 || status < 400 || status >= 500) found.push([target, fields, status, seen]);
    }
    expect(found).toEqual([]);
  });

  it.each(['to_back', 'gate', 'asked/decision', 'asked/answer'])(
    'gets no further when the site sends a request to %s',
    async (location) => {
      const target = `/pages/accel?/${name}/${location}`;
      const { status, seen } = await sent(target, ['X-Original-URI: /member/x']);
      expect(seen.map((one) => one.target)).toEqual([target]);
      expect(status).toBeGreaterThanOrEqual(400);
    },
  );
});
