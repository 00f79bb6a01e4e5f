import { isIP } from 'node:net';
import { trustedProxies } from '../http/trusted-proxies.ts';
import type { Finding } from './problems.ts';
import { crossingRoutes } from './route-order.ts';
import { type Config, parseMatch } from './schema.ts';
import { isTree, type Tree } from './tree.ts';

export interface WarningParts {
  readonly config: Config;
  /** The merged settings, as they were written. */
  readonly tree: Tree;
  /** What the operator wrote, of that. */
  readonly own: Tree;
  /** The texts of the Account API's files, in which upstreams and scopes are named too. */
  readonly texts: readonly string[];
}

/** What is allowed, and most probably not meant. It starts nevertheless. */
export function configWarnings(parts: WarningParts): readonly Finding[] {
  return [
    ...nobodyInFront(parts),
    ...forgetful(parts),
    ...unusedUpstreams(parts),
    ...unusedScopes(parts),
    ...plainToStrangers(parts),
    ...crossingRoutes(parts.tree),
    ...openWrites(parts),
    ...lifetimes(parts),
    ...nothingServed(parts),
  ];
}

/** The gate speaks no TLS: with https something is in front, and every client has its address. */
function nobodyInFront({ config }: WarningParts): readonly Finding[] {
  if (!config.origin.startsWith('https:') || config.listen.trustedProxies.length > 0) return [];
  const message =
    'names nobody, and https ends in front of the gate: all clients have the address of what is there, and share the limits of one. Name it, such as [loopback]';
  return [{ path: ['listen', 'trustedProxies'], at: 'key', message }];
}

function forgetful({ config }: WarningParts): readonly Finding[] {
  if (config.store.kind !== 'memory') return [];
  return [{ path: ['store', 'kind'], at: 'value', message: 'forgets everything at a restart: apps must connect anew' }];
}

function unusedUpstreams({ config, tree, texts }: WarningParts): readonly Finding[] {
  const used = new Set(valuesUnder(tree, 'upstream').flat());
  return Object.keys(config.upstreams)
    .filter((name) => !used.has(name) && !texts.some((text) => text.includes(`"${name}"`)))
    .map((name) => ({ path: ['upstreams', name], at: 'key', message: 'is used by nothing' }));
}

/** Of the scopes that the operator added: the catalogue is there for everybody. */
function unusedScopes({ config, own, tree, texts }: WarningParts): readonly Finding[] {
  const used = new Set(valuesUnder({ ...tree, scopes: undefined }, 'scopes').flat());
  return Object.entries(isTree(own.scopes) ? own.scopes : {})
    .filter(([token, scope]) => isTree(scope) && scope.kind !== undefined && config.scopes[token]?.kind !== 'identity')
    .filter(([token]) => !used.has(token) && !texts.some((text) => text.includes(`"${token}"`)))
    .map(([token]) => ({
      path: ['scopes', token],
      at: 'key',
      message: 'is asked for by nothing: members would grant what opens nothing',
    }));
}

function plainToStrangers({ config }: WarningParts): readonly Finding[] {
  return Object.entries(config.upstreams).flatMap(([name, { url }]): Finding[] => {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'http:' || isNear(hostname)) return [];
    const message = `sends who the member is, and what they read, in the clear to ${hostname}: use https, or a private network`;
    return [{ path: ['upstreams', name, 'url'], at: 'value', message }];
  });
}

const isPrivateAddress = trustedProxies(['loopback', 'private']);

/** A name without a dot, or of a zone that only a private network has (RFC 6761, RFC 8375, ICANN's .internal). */
function isNear(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPrivateAddress(host);
  return !host.includes('.') || /\.(localhost|local|internal|lan|test|svc|cluster|home\.arpa)$/.test(host);
}

function openWrites({ config }: WarningParts): readonly Finding[] {
  return config.routes.flatMap(({ match, anonymous }, index): Finding[] => {
    const { methods } = parseMatch(match);
    if (anonymous !== 'serve' || methods?.every((method) => ['GET', 'HEAD', 'OPTIONS'].includes(method))) return [];
    return [
      {
        path: ['routes', index, 'anonymous'],
        at: 'value',
        message: 'lets everybody change something, without a token',
      },
    ];
  });
}

function lifetimes({ config: { tokens } }: WarningParts): readonly Finding[] {
  const at = (key: string, message: string): Finding => ({ path: ['tokens', key], at: 'value', message });
  return [
    ...(tokens.access > 3600 ? [at('access', 'is longer than an hour: whoever steals a token has it so long')] : []),
    ...(tokens.refresh > tokens.refreshAbsolute
      ? [at('refresh', 'is never reached: refreshAbsolute ends it sooner')]
      : []),
  ];
}

function nothingServed({ config }: WarningParts): readonly Finding[] {
  if (config.routes.length > 0 || config.mcp !== undefined || config.account !== undefined) return [];
  const message = 'is empty, and there are neither an Account API nor tools: apps can connect, and reach nothing';
  return [{ path: ['routes'], at: 'key', message }];
}

/** What stands under a key of this name, anywhere. */
function valuesUnder(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesUnder(item, name));
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === name ? [inner] : []),
    ...valuesUnder(inner, name),
  ]);
}
