import { afterAll, beforeAll, expect, it } from 'vitest';
import { examineGateway } from '../../src/operator/doctor/gateway/gateway-doctor.ts';
import { FILE_FAULTS } from './support/file-faults.ts';
import type { GatewayKind } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
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

interface Examined {
  readonly change?: (snippet: string) => string;
  readonly authDown?: boolean;
  readonly only?: readonly string[] | undefined;
}

/** What the doctor reports about a gateway whose file is changed, by the ids of its checks. */
async function problems(kind: GatewayKind, { change = (snippet) => snippet, authDown = false, only }: Examined) {
  const gateway = await world.gateway(kind, { change, unanswered: authDown });
  try {
    const { access_token: token } = await world.connect('m-1');
    const { findings, unreachable } = await examineGateway({
      ...{ url: world.origin, echo: '/member/echo', open: '/pages/x', forbidden: '/staff/x' },
      ...{ token, authDown, patience: 5_000 },
      ...(only === undefined ? {} : { only }),
    });
    expect(unreachable).toBeUndefined();
    return Map.groupBy(
      findings.filter(({ level }) => level === 'failure' || level === 'warning'),
      ({ check }) => check,
    );
  } finally {
    await gateway.close();
  }
}

describeKinds(KINDS, 'doctor --gateway, about the file for $name', (kind) => {
  it('reports nothing', async () => {
    expect(await problems(kind, {})).toEqual(new Map());
  });

  it('reports that nothing gets through while the gate is down', async () => {
    expect((await problems(kind, { authDown: true })).get('open.down') ?? []).toEqual([]);
  });

  const faults = FILE_FAULTS.filter((fault) => fault.kind === kind);
  it.each(faults)('finds that it $what', async ({ change, finds, authDown = false }) => {
    const found = await problems(kind, { change, authDown, only: authDown ? undefined : finds });
    expect([...found.keys()]).toEqual(expect.arrayContaining([...finds]));
  });
});

it('has twenty faults of gateways that Debian and PyPI have', () => {
  expect(FILE_FAULTS.filter(({ kind }) => kind.optional !== true).length).toBeGreaterThanOrEqual(20);
});
