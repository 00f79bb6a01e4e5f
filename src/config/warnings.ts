import { isIP } from 'node:net';
import { plainIdentity, unknownSite } from '../decisions/settings-checks.ts';
import { socketHost } from '../http/host.ts';
import { isObject } from '../http/json-object.ts';
import { trustedProxies } from '../http/trusted-proxies.ts';
import { pageCallWarnings } from './page-call-checks.ts';
import type { UntracedProblem } from './problems.ts';
import { parseMatch } from './route.ts';
import { crossingRoutes } from './route-order.ts';
import type { Config } from './schema.ts';
import type { Tree } from './tree.ts';

/** What a proposed description begins with until the operator has written one. */
export const UNDESCRIBED = 'TODO: say what it returns and when to use it.';

export interface WarningParts {
  readonly config: Config;
  /** The merged settings as written. */
  readonly tree: Tree;
  /** The part of them that the operator's file sets. */
  readonly own: Tree;
  /** The texts of the Account API's files, which also name upstreams and scopes. */
  readonly texts: readonly string[];
}

/** Settings that are allowed but most likely unintended. The gate starts anyway. */
export function configWarnings(parts: WarningParts): readonly UntracedProblem[] {
  return [
    ...untrustedProxy(parts),
    ...memoryStore(parts),
    ...unusedUpstreams(parts),
    ...unusedScopes(parts),
    ...unencryptedUpstreams(parts),
    ...crossingRoutes(parts.tree),
    ...openWrites(parts),
    ...pageCallWarnings(parts.config),
    ...unknownSite(parts.config),
    ...plainIdentity(parts.config),
    ...lifetimes(parts),
    ...undescribedTools(parts),
    ...firstOfList(parts),
    ...nothingServed(parts),
    ...needlessRefusal(parts),
  ];
}

/** The gate does not terminate TLS: with an https origin there is a proxy in front, and all clients share its address. */
function untrustedProxy({ config }: WarningParts): readonly UntracedProblem[] {
  if (!config.origin.startsWith('https:') || config.listen.trustedProxies.length > 0) return [];
  const message =
    'is empty, but TLS ends at a proxy in front of the gate: all clients appear with the address of that proxy and share the limits of one client. List the proxy, such as [loopback]';
  return [{ path: ['listen', 'trustedProxies'], at: 'key', message }];
}

function memoryStore({ config }: WarningParts): readonly UntracedProblem[] {
  if (config.store.kind !== 'memory') return [];
  const message = 'loses everything at a restart: members must reconnect their apps';
  return [{ path: ['store', 'kind'], at: 'value', message }];
}

function unusedUpstreams({ config, tree, texts }: WarningParts): readonly UntracedProblem[] {
  const used = new Set(valuesUnder(tree, 'upstream').flat());
  return Object.keys(config.upstreams)
    .filter((name) => !used.has(name) && !texts.some((text) => text.includes(`"${name}"`)))
    .map((name) => ({ path: ['upstreams', name], at: 'key', message: 'is not used by anything' }));
}

/** Checks only scopes that the operator added. The bundled catalogue need not be used in full. */
function unusedScopes({ config, own, tree, texts }: WarningParts): readonly UntracedProblem[] {
  const message = 'is not required by anything: granting it gives access to nothing';
  const used = new Set(valuesUnder({ ...tree, scopes: undefined }, 'scopes').flat());
  return Object.entries(isObject(own.scopes) ? own.scopes : {})
    .filter(
      ([token, scope]) => isObject(scope) && scope.kind !== undefined && config.scopes[token]?.kind !== 'identity',
    )
    .filter(([token]) => !used.has(token) && !texts.some((text) => text.includes(`"${token}"`)))
    .map(([token]) => ({ path: ['scopes', token], at: 'key', message }));
}

function unencryptedUpstreams({ config }: WarningParts): readonly UntracedProblem[] {
  return Object.entries(config.upstreams).flatMap(([name, { url }]): UntracedProblem[] => {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'http:' || isPrivateHost(hostname)) return [];
    const message = `sends the identity and data of members unencrypted to ${hostname}: use https, or a private network`;
    return [{ path: ['upstreams', name, 'url'], at: 'value', message }];
  });
}

const isPrivateAddress = trustedProxies(['loopback', 'private']);

/** A private address, a name without a dot, or a name in a private-use zone (RFC 6761, RFC 8375, ICANN's .internal). */
function isPrivateHost(hostname: string): boolean {
  const host = socketHost(hostname);
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return !host.includes('.') || /\.(localhost|local|internal|lan|test|svc|cluster|home\.arpa)$/.test(host);
}

function openWrites({ config }: WarningParts): readonly UntracedProblem[] {
  return config.routes.flatMap(({ match, anonymous }, index): UntracedProblem[] => {
    const { methods } = parseMatch(match);
    if (anonymous !== 'serve' || methods?.every((method) => ['GET', 'HEAD', 'OPTIONS'].includes(method))) return [];
    const message = 'lets anyone make changes without a token';
    return [{ path: ['routes', index, 'anonymous'], at: 'value', message }];
  });
}

function lifetimes({ config: { tokens } }: WarningParts): readonly UntracedProblem[] {
  const at = (key: string, message: string): UntracedProblem => ({ path: ['tokens', key], at: 'value', message });
  return [
    ...(tokens.access > 3600 ? [at('access', 'is longer than an hour: a stolen token stays usable that long')] : []),
    ...(tokens.refresh > tokens.refreshAbsolute ? [at('refresh', 'has no effect: refreshAbsolute is shorter')] : []),
  ];
}

function undescribedTools({ config }: WarningParts): readonly UntracedProblem[] {
  return (config.mcp?.tools ?? []).flatMap(({ description }, index): UntracedProblem[] => {
    if (!description.startsWith(UNDESCRIBED)) return [];
    const message = 'is still the one that was proposed: models choose tools by their descriptions';
    return [{ path: ['mcp', 'tools', index, 'description'], at: 'value', message }];
  });
}

/** Pointers that choose an element of a list, such as /0/id: with several elements, the gate takes none of them. */
function firstOfList({ config: { login, claims, upstreams } }: WarningParts): readonly UntracedProblem[] {
  const whoami = 'whoami' in login && login.whoami.format === 'json' ? login.whoami : undefined;
  const recheck = 'recheck' in login && login.recheck?.format === 'json' ? login.recheck : undefined;
  const pointers: readonly (readonly [path: UntracedProblem['path'], pointer: unknown])[] = [
    ...Object.entries(whoami ?? {})
      .filter(([key]) => key !== 'path')
      .map(([key, pointer]) => [['login', 'whoami', key], pointer] as const),
    [['login', 'whoami', 'anonymous', 'at'], whoami?.anonymous.at],
    [['login', 'recheck', 'active'], recheck?.active],
    [['login', 'recheck', 'version'], recheck?.version],
    ...Object.entries(claims).map(([name, { from }]) => [['claims', name, 'from'], from] as const),
    ...Object.entries(upstreams).map(
      ([name, { credential }]) =>
        [['upstreams', name, 'credential', 'token'], credential?.kind === 'token' && credential.token] as const,
    ),
  ];
  const message =
    'chooses an element of a list. If the response has several, the gate takes none of them and answers 503: use a URL whose response is about this member only';
  return pointers
    .filter(([, pointer]) => typeof pointer === 'string' && /\/(?:0|[1-9]\d*)(?:\/|$)/.test(pointer))
    .map(([path]) => ({ path, at: 'value', message }));
}

function nothingServed({ config }: WarningParts): readonly UntracedProblem[] {
  if (config.routes.length > 0 || config.mcp !== undefined || config.account !== undefined) return [];
  const message =
    'is empty, and there is neither an Account API nor a tool: apps can connect but have nothing to access';
  return [{ path: ['routes'], at: 'key', message }];
}

function needlessRefusal({ config: { pages } }: WarningParts): readonly UntracedProblem[] {
  if (pages.origin === undefined || pages.serviceWorkers !== 'refuse') return [];
  const message = 'is not needed: no service worker of the site reaches the host of pages.origin';
  return [{ path: ['pages', 'serviceWorkers'], at: 'key', message }];
}

/** The values of every key of this name, at any depth. */
function valuesUnder(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesUnder(item, name));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === name ? [inner] : []),
    ...valuesUnder(inner, name),
  ]);
}
