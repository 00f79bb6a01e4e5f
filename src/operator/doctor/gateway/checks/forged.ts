import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { type Echo, type Field, folded, valuesOf } from '../echo.ts';
import { gatewayChecks, identityOf, type Known } from '../facts.ts';
import type { GatewayRequest } from '../gateway.ts';
import { echoesOf } from '../got-through.ts';
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
function unsigned<G extends Known<'identity'>>(gateway: G): G {
  return { ...gateway, identity: gateway.identity.filter((name) => !/^x-coursegate-assertion$/i.test(name)) };
}

const alternating = (name: string) =>
  [...name].map((letter, at) => (at % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');

/** Forges each identity field in each spelling, one in each request. */
function forge(
  { identity, bearer, send }: Known<'identity'>,
  spellings: readonly Spelling[],
  base: GatewayRequest = { authorization: bearer },
): Promise<readonly Verdict[]> {
  const attacks = identity.flatMap((name) => spellings.map((spell) => ({ name, headers: spell(name) })));
  return checkEach(identity.join(', '), attacks, async ({ name, headers }) => {
    const { echoes } = await send({ ...base, headers });
    const received = echoes.flatMap(forgedIn).find((one) => folded(one) === folded(name));
    const beside = echoes.some((echo) => valuesOf(echo, name).some((value) => !value.includes(FORGED)));
    const how = `${received}${beside ? `, beside the gateway’s own ${name}` : ''}`;
    return received !== undefined && failure(`the client’s ${headers[0]?.[0]} reached the backend as ${how}`);
  });
}

/** Forges all identity fields at addresses that a gateway may treat as its own, or as none of its rules. */
function forgeAnywhere({ echoPath, openPath, identity, send }: Known<'identity'>): Promise<readonly Verdict[]> {
  const up = echoPath.replace(/\/[^/]*/g, '/..');
  const headers = identity.map((name): Field => [name, FORGED]);
  const inside = INTERNAL.flatMap((place) => [
    `${place}/x`,
    `${echoPath}${up}${place}/x`,
    `${place}/..;${echoPath}`,
    `${place}/..%5c${echoPath.slice(1)}`,
  ]);
  const outside = [`/;${echoPath}`, `/${echoPath}`, `${openPath}/..;${echoPath}`, `/x/%252e%252e${echoPath}`];
  return checkEach(identity.join(', '), [...inside, ...outside], async (target) => {
    const [received] = (await send({ target, headers })).echoes.flatMap(forgedIn);
    return received !== undefined && failure(`at ${target}, the client’s ${received} reached the backend`);
  });
}

/** Where gateways keep what only they may ask for: coursegate's file for nginx, oauth2-proxy, and what people write. */
const INTERNAL = ['/.coursegate', '/oauth2', '/_auth'];

/** The names of the fields with a forged value. */
function forgedIn({ headers }: Echo): readonly string[] {
  return headers.filter(([, value]) => value.includes(FORGED)).map(([name]) => name);
}

/** RFC 9110 section 7.6.1: a proxy removes the fields that Connection names, and some do it after they added theirs. */
async function removeByConnection({ send, bearer, identity }: Known<'identity'>): Promise<Verdict> {
  const { echoes } = await send({
    authorization: bearer,
    headers: [['Connection', ['close', ...identity].join(', ')]],
  });
  const lost = identity.filter((name) => echoes.some((echo) => valuesOf(echo, name).length === 0));
  if (lost.length === 0) return pass(identity.join(', '));
  return failure(`with "Connection: ${lost.join(', ')}", the backend receives the request without ${lost.join(', ')}`);
}

async function forgeOtherNames(gateway: Known<'carrier'>): Promise<Verdict> {
  const names = otherIdentityFields(identityOf(gateway));
  const echoes = await echoesOf(
    gateway,
    names.map((name) => [name, FORGED]),
  );
  const received = [...new Set(echoes.flatMap(forgedIn))];
  if (received.length === 0) return pass(`${names.length} names, none reached the backend`);
  return warning(`the backend receives as the client wrote it: ${received.join(', ')}`);
}
