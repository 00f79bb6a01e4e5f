import { afterAll, beforeAll, expect, it } from 'vitest';
import { examineGateway } from '../../src/operator/doctor/gateway/gateway-doctor.ts';
import { caddy } from './kinds/caddy.ts';
import { envoy } from './kinds/envoy.ts';
import { haproxy } from './kinds/haproxy.ts';
import { nginx } from './kinds/nginx.ts';
import type { GatewayKind } from './support/gateway-kind.ts';
import { describeKinds } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

let world: PluginWorld;
beforeAll(async () => {
  world = await startPluginWorld();
  world.backend.script(({ method, target, headers }, socket) => {
    const body = JSON.stringify({ method, target, headers });
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(method === 'HEAD' ? head : head + body);
  });
});
afterAll(() => world.close());

/** The ids of the checks that report something about a gateway whose file is changed. */
async function found(kind: GatewayKind, change: (snippet: string) => string): Promise<readonly string[]> {
  const gateway = await world.gateway(kind, { change });
  try {
    const { access_token: token } = await world.connect('m-1');
    const places = { url: world.origin, echo: '/member/echo', open: '/pages/x' };
    const { findings, unreachable } = await examineGateway({
      ...places,
      token,
      only: ['forged', 'path'],
      patience: 5000,
    });
    expect(unreachable).toBeUndefined();
    // What an app sends under the names of other products is the site's own affair on its own pages.
    const problems = findings.filter(({ level }) => level === 'failure' || level === 'warning');
    return [...new Set(problems.map(({ check }) => check))];
  } finally {
    await gateway.close();
  }
}

/** Replaces one part of a file, which must have it. */
const without =
  (part: RegExp, by = '') =>
  (snippet: string) => {
    expect(snippet).toMatch(part);
    return snippet.replace(part, by);
  };

/** Without the lines for the locations of the site, which are a second defence. */
const refusesOnly = without(/^(?=proxy_set_header X-Member-Id "";)/m, '# ');

const FAULTS: ReadonlyMap<GatewayKind, readonly (readonly [string, (snippet: string) => string, readonly string[]])[]> =
  new Map([
    [
      nginx,
      [
        [
          'asks first whether the path is internal, and a client can send such a path',
          (snippet: string) => refusesOnly(without(/if \(\$coursegate_outside\) \{ return 404; \}\n/)(snippet)),
          ['forged.unusual'],
        ],
        ['looks only at the first of several identity fields', refusesOnly, ['forged.public']],
        ['passes unusual targets to the site', without(/default gate;\n.*/, 'default "";'), ['path.parameters']],
      ],
    ],
    [haproxy, [['passes unusual targets to the site', without(/.*path -m reg -i .*\(\?!.*\n/), ['path.parameters']]]],
    [
      caddy,
      [
        [
          'passes unusual targets to the site',
          without(/@coursegate_unusual vars_regexp.*\n/, '@coursegate_unusual path /never\n'),
          ['path.parameters'],
        ],
        ['removes no identity fields', without(/^(request_header -.*\n)+/m), ['forged.public', 'forged.unusual']],
      ],
    ],
    [
      envoy,
      [
        [
          'removes no identity fields',
          without(/^( *)early_header_mutation_extensions:\n(\1 .*\n|\1- .*\n)+/m),
          ['forged.public', 'forged.unusual'],
        ],
      ],
    ],
  ]);

describeKinds([...FAULTS.keys()], 'doctor --gateway, about the file for $name', (kind) => {
  it('reports nothing', async () => {
    expect(await found(kind, (snippet) => snippet)).toEqual([]);
  });

  it.each(FAULTS.get(kind) ?? [])('finds that it %s', async (_, change, checks) => {
    expect(await found(kind, change)).toEqual(expect.arrayContaining([...checks]));
  });
});
