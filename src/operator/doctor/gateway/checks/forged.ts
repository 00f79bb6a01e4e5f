import { failure, pass, type Verdict, warning } from '../../finding.ts';
import { carrier, type GatewayCheck, type GatewayFacts, gatewayChecks } from '../check.ts';
import { type Echo, type Field, folded, valuesOf } from '../echo.ts';
import type { ExaminedGateway, GatewayRequest } from '../gateway.ts';
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

const ALIAS = 'PHP, CGI and WSGI read X_Member_Id and X.Member.Id as X-Member-Id.';

/** Whether a client can say who it is. */
export const FORGERY: readonly GatewayCheck[] = [
  ...gatewayChecks(['admitted', 'identity'], {
    'forged.identity': {
      title: 'A forged identity field is replaced',
      reference: 'CVE-2026-31908 (APISIX); RFC 9110 section 5.3',
      fix: 'Set each identity field on every request, whatever the client sent: replace it (nginx "proxy_set_header", HAProxy "http-request set-header"), never add to it. A backend that reads the first of two fields believes the client.',
      run: (gateway, found) => forge(gateway, found, PLAIN),
    },
    'forged.underscore': {
      title: 'An identity field spelled with underscores is dropped',
      reference: 'CVE-2025-64484 (oauth2-proxy), CVE-2026-39858 (Traefik), GHSA-f59h-q822-g45g (Caddy)',
      fix: `Drop fields with an underscore in their name: nginx "underscores_in_headers off", Caddy "request_header -*_*", HAProxy "http-request del-header _ -m sub". ${ALIAS}`,
      run: (gateway, found) => forge(gateway, found, UNDERSCORES),
    },
    'forged.dot': {
      title: 'An identity field spelled with dots is dropped',
      reference: 'Advisory of Traefik 3.7.13; RFC 9110 section 5.1',
      fix: `Drop fields whose name has other characters than letters, digits and hyphens: nginx "ignore_invalid_headers on", Caddy "request_header -*.*". ${ALIAS}`,
      run: (gateway, found) => forge(gateway, found, DOTS),
    },
    'forged.connection': {
      title: 'A client cannot remove the identity fields',
      reference: 'RFC 9110 section 7.6.1',
      fix: 'Remove the client’s Connection field before you add identity fields (Caddy "request_header -Connection"): proxies drop every field that it names, also their own.',
      run: removeByConnection,
    },
  }),
  ...gatewayChecks(['identity', 'open'], {
    'forged.public': {
      title: 'Forged identity fields are dropped on open paths, too',
      reference: 'GHSA-7r4p-vjf4-gxv4 (Caddy)',
      fix: 'Remove the identity fields, in every spelling, from all requests to this backend, also where the auth service is not asked or answers without them: the backend cannot tell them from yours. Do not refuse them by "$http_x_member_id": nginx before 1.23 sees only the first of several; set them to "" with "proxy_set_header".',
      run: (gateway, found) => forge(gateway, found, [...PLAIN, ...UNDERSCORES, ...DOTS], { target: gateway.openPath }),
    },
  }),
  ...gatewayChecks(['echo', 'identity'], {
    'forged.unusual': {
      title: 'Forged identity fields are dropped at every address',
      reference: 'RFC 9112 section 3.2; CWE-288',
      fix: 'Drop or refuse the identity fields before anything else, whatever the path is: no "break", "skip" or exception by a path comes first, least of all by a path that a client can send. Tell internal requests by something that a client cannot set.',
      run: forgeAnywhere,
    },
  }),
  ...gatewayChecks(['echo'], {
    'forged.other-names': {
      title: 'Names in which other products put the member are dropped',
      reference: 'RFC 9110 section 17.1',
      fix: 'Pass on only the fields that the backend needs, or drop these: a backend, framework or plug-in that trusts one of them believes every client.',
      run: forgeOtherNames,
    },
  }),
];

const alternating = (name: string) =>
  [...name].map((letter, at) => (at % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');

/** Forges each identity field in each spelling, one in each request. */
async function forge(
  gateway: ExaminedGateway,
  { identity }: GatewayFacts,
  spellings: readonly Spelling[],
  base: GatewayRequest = { authorization: gateway.bearer },
): Promise<readonly Verdict[]> {
  const problems: Verdict[] = [];
  for (const name of identity) {
    for (const spell of spellings) {
      const headers = spell(name);
      const { echoes } = await gateway.attempt({ ...base, headers });
      const received = echoes.flatMap((echo) => forgedIn(echo)).find((one) => folded(one) === folded(name));
      if (received === undefined) continue;
      const beside = echoes.some((echo) => valuesOf(echo, name).some((value) => !value.includes(FORGED)));
      const how = `${received}${beside ? `, beside the gateway’s own ${name}` : ''}`;
      problems.push(failure(`the client’s ${headers[0]?.[0]} reached the backend as ${how}`));
    }
  }
  return problems.length > 0 ? problems : [pass(identity.join(', '))];
}

/** Forges all identity fields at addresses that a gateway may treat as its own, or as none of its rules. */
async function forgeAnywhere(gateway: ExaminedGateway, { identity }: GatewayFacts): Promise<readonly Verdict[]> {
  const { echoPath, openPath } = gateway;
  const up = echoPath.replace(/\/[^/]*/g, '/..');
  const headers = identity.map((name): Field => [name, FORGED]);
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
    const { echoes } = await gateway.attempt({ target, headers });
    const [received] = echoes.flatMap(forgedIn);
    if (received !== undefined) problems.push(failure(`at ${target}, the client’s ${received} reached the backend`));
  }
  return problems.length > 0 ? problems : [pass(identity.join(', '))];
}

/** Where gateways keep what only they may ask for: coursegate's file for nginx, oauth2-proxy, and what people write. */
const INTERNAL = ['/.coursegate', '/oauth2', '/_auth'];

/** The names of the fields with a forged value. */
function forgedIn({ headers }: Echo): readonly string[] {
  return headers.filter(([, value]) => value.includes(FORGED)).map(([name]) => name);
}

/** RFC 9110 section 7.6.1: a proxy removes the fields that Connection names, and some do it after they added theirs. */
async function removeByConnection(gateway: ExaminedGateway, { identity }: GatewayFacts): Promise<readonly Verdict[]> {
  const { echoes } = await gateway.attempt({
    authorization: gateway.bearer,
    headers: [['Connection', ['close', ...identity].join(', ')]],
  });
  const lost = identity.filter((name) => echoes.some((echo) => valuesOf(echo, name).length === 0));
  if (lost.length === 0) return [pass(identity.join(', '))];
  return [
    failure(`with "Connection: ${lost.join(', ')}", the backend receives the request without ${lost.join(', ')}`),
  ];
}

/** All names in one request; if it is refused, which may be for the sake of one of them, each in its own. */
async function forgeOtherNames(gateway: ExaminedGateway, found: GatewayFacts): Promise<readonly Verdict[]> {
  const names = otherIdentityFields(found.identity);
  const { attempt } = carrier(gateway, found);
  const send = (some: readonly string[]) =>
    gateway.attempt({ ...attempt, headers: some.map((name) => [name, FORGED] as const) });
  const together = await send(names);
  const received = new Set(together.echoes.flatMap(forgedIn));
  if (together.echoes.length === 0) {
    for (const name of names) for (const one of (await send([name])).echoes.flatMap(forgedIn)) received.add(one);
  }
  if (received.size === 0) return [pass(`${names.length} names, none reached the backend`)];
  return [warning(`the backend receives as the client wrote it: ${[...received].join(', ')}`)];
}
