import { failure, pass, problemsOr, type Verdict, warning } from '../../finding.ts';
import type { AttackedGateway } from '../attacked-gateway.ts';
import { type CarriedAttack, gatewayChecks } from '../check.ts';
import { type Echo, type Field, folded, valuesOf } from '../echo.ts';
import type { GatewayRequest } from '../gateway.ts';
import { FORGED, otherIdentityFields } from '../names.ts';

type Spelling = (name: string) => readonly Field[];

/** As the gateway itself writes the name, in other cases, and twice, also with the first one empty. */
const PLAIN: readonly Spelling[] = [
  (name) => [[name, FORGED]],
  (name) => [[alternating(name), FORGED]],
  (name) => [
    [name.toLowerCase(), `${FORGED}-1`],
    [name.toUpperCase(), `${FORGED}-2`],
  ],
  (name) => [
    [name, ''],
    [name, FORGED],
  ],
];
const UNDERSCORES: readonly Spelling[] = [
  (name) => [[name.replaceAll('-', '_'), FORGED]],
  (name) => [[name.replace('-', '_'), FORGED]],
];
const DOTS: readonly Spelling[] = [
  (name) => [[name.replaceAll('-', '.'), FORGED]],
  (name) => [[name.replaceAll('-', '~'), FORGED]],
];

/** Whether a client can say who it is. */
export const FORGERY = [
  ...gatewayChecks(['admitted', 'identity'], {
    'forged.identity': (gateway) => forge(gateway, PLAIN),
    'forged.underscore': (gateway) => forge(gateway, UNDERSCORES),
    'forged.dot': (gateway) => forge(gateway, DOTS),
    'forged.connection': removeByConnection,
  }),
  ...gatewayChecks(['identity', 'open'], {
    'forged.public': (gateway) =>
      forge(unsigned(gateway), [...PLAIN, ...UNDERSCORES, ...DOTS], { target: gateway.openPath }),
  }),
  ...gatewayChecks(['carrier', 'identity'], {
    'forged.unusual': (gateway) => forgeAnywhere(unsigned(gateway)),
  }),
  ...gatewayChecks(['carrier'], {
    'forged.other-names': forgeOtherNames,
  }),
];

/** Where nobody decides, a forged X-Coursegate-Assertion tells a backend nothing, because it verifies the signature. */
function unsigned(gateway: AttackedGateway): AttackedGateway {
  return { ...gateway, identity: gateway.identity.filter((name) => !/^x-coursegate-assertion$/i.test(name)) };
}

const alternating = (name: string) =>
  [...name].map((letter, at) => (at % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');

/** Forges each identity field in each spelling, one in each request. */
async function forge(
  gateway: AttackedGateway,
  spellings: readonly Spelling[],
  base: GatewayRequest = { authorization: gateway.bearer },
): Promise<readonly Verdict[]> {
  const problems: Verdict[] = [];
  for (const name of gateway.identity) {
    for (const spell of spellings) {
      const headers = spell(name);
      const { echoes } = await gateway.send({ ...base, headers });
      const received = echoes.flatMap((echo) => forgedIn(echo)).find((one) => folded(one) === folded(name));
      if (received === undefined) continue;
      const beside = echoes.some((echo) => valuesOf(echo, name).some((value) => !value.includes(FORGED)));
      const how = `${received}${beside ? `, beside the gateway’s own ${name}` : ''}`;
      problems.push(failure(`the client’s ${headers[0]?.[0]} reached the backend as ${how}`));
    }
  }
  return problemsOr(problems, gateway.identity.join(', '));
}

/** Forges all identity fields at addresses that a gateway may treat as its own, or as none of its rules. */
async function forgeAnywhere(gateway: AttackedGateway): Promise<readonly Verdict[]> {
  const { echoPath, openPath } = gateway;
  const up = echoPath.replace(/\/[^/]*/g, '/..');
  const headers = gateway.identity.map((name): Field => [name, FORGED]);
  const problems: Verdict[] = [];
  const inside = INTERNAL.flatMap((place) => [
    `${place}/x`,
    `${echoPath}${up}${place}/x`,
    `${place}/..;${echoPath}`,
    `${place}/..%5c${echoPath.slice(1)}`,
  ]);
  for (const target of [
    ...inside,
    `/;${echoPath}`,
    `/${echoPath}`,
    `${openPath}/..;${echoPath}`,
    `/x/%252e%252e${echoPath}`,
  ]) {
    const { echoes } = await gateway.send({ target, headers });
    const [received] = echoes.flatMap(forgedIn);
    if (received !== undefined) problems.push(failure(`at ${target}, the client’s ${received} reached the backend`));
  }
  return problemsOr(problems, gateway.identity.join(', '));
}

/** Where gateways keep what only they may ask for: coursegate's file for nginx, oauth2-proxy, and what people write. */
const INTERNAL = ['/.coursegate', '/oauth2', '/_auth'];

/** The names of the fields with a forged value. */
function forgedIn({ headers }: Echo): readonly string[] {
  return headers.filter(([, value]) => value.includes(FORGED)).map(([name]) => name);
}

/** RFC 9110 section 7.6.1: a proxy removes the fields that Connection names, and some do it after they added theirs. */
async function removeByConnection({ send, bearer, identity }: AttackedGateway): Promise<Verdict> {
  const { echoes } = await send({
    authorization: bearer,
    headers: [['Connection', ['close', ...identity].join(', ')]],
  });
  const lost = identity.filter((name) => echoes.some((echo) => valuesOf(echo, name).length === 0));
  if (lost.length === 0) return pass(identity.join(', '));
  return failure(`with "Connection: ${lost.join(', ')}", the backend receives the request without ${lost.join(', ')}`);
}

/** All names in one request; if it is refused, which may be for the sake of one of them, each in its own. */
async function forgeOtherNames({ send, carrier, identity }: CarriedAttack): Promise<Verdict> {
  const names = otherIdentityFields(identity);
  const sendNames = (some: readonly string[]) =>
    send({ ...carrier.request, headers: some.map((name) => [name, FORGED] as const) });
  const together = await sendNames(names);
  const received = new Set(together.echoes.flatMap(forgedIn));
  if (together.echoes.length === 0) {
    for (const name of names) for (const one of (await sendNames([name])).echoes.flatMap(forgedIn)) received.add(one);
  }
  if (received.size === 0) return pass(`${names.length} names, none reached the backend`);
  return warning(`the backend receives as the client wrote it: ${[...received].join(', ')}`);
}
