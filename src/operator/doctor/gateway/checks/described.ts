import { checkEach, failure, pass, type Verdict, warning } from '../../finding.ts';
import { arrived, type Echo, type Field, folded, valuesOf } from '../echo.ts';
import { gatewayChecks, type Known } from '../facts.ts';
import type { ExaminedGateway, GatewayRequest } from '../gateway.ts';
import { echoesOf, noneGetsThrough } from '../got-through.ts';
import { FORGED } from '../names.ts';
import DESCRIPTIONS from './descriptions.json' with { type: 'json' };

const { uris: URIS, methods: METHODS, hosts: HOSTS, addresses: ADDRESSES } = DESCRIPTIONS;

/** The name of a field that changes which resource a framework serves, and a value. */
const REWRITES: readonly Field[] = [
  ...['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI'].map((name): Field => [name, `/${FORGED}`]),
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'].map((name): Field => [name, 'DELETE']),
  // Rack reads these two as what a server in front of it may send as a file.
  ['X-Sendfile-Type', 'x-accel-redirect'],
  ['X-Accel-Mapping', `/=/${FORGED}/`],
];

/** Whether what the client says about its own request is believed. */
export const DESCRIPTION = [
  ...gatewayChecks(['carrier', 'refused'], {
    'described.decision': (gateway) => noneGetsThrough(gateway, 'no description opened it', descriptions(gateway)),
    'described.query': (gateway) => noneGetsThrough(gateway, 'no query opened it', queries(gateway)),
  }),
  ...gatewayChecks(['carrier'], {
    'described.rewrite': (gateway) => forgeFields(gateway, REWRITES),
    'described.forwarded': (gateway) => forgeFields(gateway, forwarded(gateway)),
    'described.address': forgeAddress,
  }),
  ...gatewayChecks(
    ['admitted', 'identity'],
    {
      'described.school': (gateway) =>
        checkEach('nothing at other schools', otherSchools(gateway), async ([what, request]) => {
          const { echoes } = await gateway.send({ authorization: gateway.bearer, ...request });
          return (
            echoes.some((echo) => isMembersElsewhere(gateway, echo, request)) &&
            failure(`${what} reached the backend as a member’s`)
          );
        }),
    },
    ({ otherHosts }) => otherHosts.length > 0,
  ),
];

/** Requests with the token of this school that name another one: gateways choose a backend by either of these hosts. */
function* otherSchools({ otherHosts, host, to: { origin }, echoPath }: ExaminedGateway) {
  const at = (one: string) => origin.replace(host, one) + echoPath;
  for (const other of otherHosts) {
    const ways: readonly GatewayRequest[] = [
      { host: other },
      ...HOSTS.map((name): GatewayRequest => ({ host: other, headers: [[name, host]] })),
      { host: other, target: at(host) },
      { target: at(other) },
    ];
    for (const way of ways) {
      const fields = way.headers?.map((field) => ` and ${field.join(': ')}`).join('') ?? '';
      yield [`a request for ${way.target ?? echoPath} with Host: ${way.host ?? host}${fields}`, way] as const;
    }
  }
}

/**
 * Whether the backend of another school got the member. If only one of two hosts is the other school's, servers choose
 * either: then the backend’s fields say for whom it was.
 */
function isMembersElsewhere(
  { admitted, identity }: Known<'admitted' | 'identity'>,
  echo: Echo,
  { target }: GatewayRequest,
) {
  const hasMember = identity.some((name) => valuesOf(echo, name).some((value) => value !== ''));
  const isSame = ['Host', 'X-Forwarded-Host'].every(
    (name) => `${valuesOf(echo, name)}` === `${valuesOf(admitted, name)}`,
  );
  return hasMember && !(target !== undefined && isSame);
}

/** Requests without a token that claim to be about something else. */
function* descriptions({ openPath, host }: ExaminedGateway): Generator<readonly [string, GatewayRequest]> {
  const one = ([name, value]: Field): readonly [string, GatewayRequest] => [
    `a request without a token but with ${name}: ${value}`,
    { headers: [[name, value]] },
  ];
  for (const name of URIS) yield one([name, openPath]);
  for (const name of URIS.slice(0, 4)) yield one([name, `http://${host}${openPath}`]);
  for (const path of DESCRIPTIONS.skippedPaths)
    yield [`a request without a token but described as ${path}`, { headers: all(URIS, path) }];
  for (const method of ['OPTIONS', 'HEAD', 'POST'])
    yield [`a request without a token but described as ${method}`, { headers: all(METHODS, method) }];
  for (const name of HOSTS) yield one([name, 'localhost']);
  for (const proto of ['http', 'https']) yield one(['X-Forwarded-Proto', proto]);
  for (const name of ADDRESSES) yield one([name, '127.0.0.1']);
  for (const name of ['X-Member-Id', 'X-Forwarded-User', 'Remote-User']) yield one([name, FORGED]);
  const names = [...URIS, 'X-Forwarded-Method', 'X-Original-Method', 'X-Forwarded-Host'];
  yield ['a request without a token whose Connection names the descriptions', connectionOf(names)];
}

const all = (names: readonly string[], value: string): readonly Field[] => names.map((name) => [name, value]);
const connectionOf = (names: readonly string[]): GatewayRequest => ({
  headers: [['Connection', `close, ${names.join(', ')}`]],
});

/** Requests without a token whose query looks like an open path, or like the parameters of an auth service. */
function* queries({ echoPath, openPath }: ExaminedGateway): Generator<readonly [string, GatewayRequest]> {
  for (const query of [
    openPath,
    `x=${openPath}`,
    `x=${openPath}&`,
    `uri=${openPath}&url=${openPath}&path=${openPath}&rd=${openPath}&method=OPTIONS`,
    'allowed_groups=&allowed_emails=&skip=true&scope=',
    '/favicon.ico',
    '.css',
    '&x=/static/x.css',
  ])
    yield [`${echoPath}?${query} without a token`, { target: `${echoPath}?${query}` }];
}

/** What a client must not say about the way that its request came. */
function forwarded({ to: { origin } }: ExaminedGateway): readonly Field[] {
  const host = `${FORGED}.example`;
  const proto = origin.startsWith('https:') ? 'http' : 'https';
  return [
    ['X-Forwarded-Host', host],
    ['X_Forwarded_Host', host],
    ['X.Forwarded.Host', host],
    ['X-Forwarded-Proto', proto],
    ['X_Forwarded_Proto', proto],
    ['X-Forwarded-Port', '1'],
    ['X_Forwarded_Port', '1'],
    ['X-Forwarded-Prefix', `/${FORGED}`],
    ['X_Forwarded_Prefix', `/${FORGED}`],
    ['X-Forwarded-Uri', `/${FORGED}`],
    ['X-Forwarded-Method', 'DELETE'],
    ['X-Forwarded-Server', host],
    ['X-Forwarded-Scheme', proto],
    ['X-Forwarded-Ssl', proto === 'https' ? 'on' : 'off'],
    ['Forwarded', `host=${host}`],
  ];
}

/** Which fields reached the backend with the client’s value. Spellings of one name are sent apart. */
async function forgeFields(gateway: Known<'carrier'>, fields: readonly Field[]): Promise<Verdict> {
  const received: string[] = [];
  const groups = Map.groupBy(fields, ([name]) => /[_.]/.exec(name)?.[0] ?? '-');
  for (const headers of groups.values()) {
    const echoes = await echoesOf(gateway, headers);
    const through = headers.filter((field) => arrived(echoes, gateway.carrier.echo, ...field));
    received.push(...through.map(([name]) => name));
  }
  return reached(received, failure, fields.length);
}

function reached(names: readonly string[], problem: (seen: string) => Verdict, tried: number): Verdict {
  if (names.length === 0) return pass(`${tried} fields, none reached the backend`);
  return problem(`the backend receives as the client wrote it: ${names.join(', ')}`);
}

const ADDRESS = '203.0.113.7';

/** An address that the gateway appended something to is as it should be: the last one is what it saw itself. */
async function forgeAddress({ send, carrier }: Known<'carrier'>): Promise<Verdict> {
  const { echoes } = await send({ ...carrier.request, headers: all(ADDRESSES, ADDRESS) });
  const names = ADDRESSES.filter((name) => echoes.some((echo) => lastOf(echo, name) === ADDRESS));
  return reached(names.map(spelled(echoes)), warning, ADDRESSES.length);
}

function lastOf(echo: Echo, name: string): string | undefined {
  return valuesOf(echo, name).at(-1)?.split(',').at(-1)?.trim();
}

/** A name as the backend received it. */
const spelled = (echoes: readonly Echo[]) => (name: string) =>
  echoes.flatMap(({ headers }) => headers.map(([one]) => one)).find((one) => folded(one) === folded(name)) ?? name;
