/** Addresses that a web server sends to the gate, in the three shapes that every web server can match. */
export interface GatePaths {
  /** These very paths. */
  readonly exact: readonly string[];
  /** Whatever begins so; each ends in a slash. */
  readonly under: readonly string[];
  /** Paths with something in the middle, as regular expressions without anchors that every engine reads alike. */
  readonly patterns: readonly string[];
}

/** What is ours as a whole, though not every address in it is one: the site must not be asked for the rest of it. */
const OWN = ['/oauth/', '/api/oauth/'] as const;
/** Apps look for metadata under these with a path behind; a site that answers such with a page misleads them. */
const METADATA = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];

/** In: the patterns of the gate's table. Out: the same as few matches, without what another takes in. */
export function gatePaths(patterns: readonly string[]): GatePaths {
  const exact = new Set<string>();
  const under = new Set<string>([...OWN, ...METADATA.map((path) => `${path}/`)]);
  const others = new Set<string>();
  for (const pattern of patterns) {
    const base = pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern;
    if (base.includes('*')) others.add(expression(pattern));
    else {
      exact.add(base === '' ? '/' : encoded(base));
      if (base !== pattern) under.add(`${encoded(base)}/`);
    }
  }
  // The door of an app that was given the address with a final slash.
  for (const path of ['/mcp', '/mcp/member']) if (exact.has(path)) exact.add(`${path}/`);
  const isUnder = (path: string, not?: string) => [...under].some((one) => one !== not && path.startsWith(one));
  return {
    exact: [...exact].filter((path) => !isUnder(path)).toSorted(),
    under: [...under].filter((path) => !isUnder(path, path)).toSorted(),
    patterns: [...others].filter((pattern) => !isUnder(pattern.replaceAll('\\', ''))).toSorted(),
  };
}

/** The whole of a path, for servers that match by one expression. */
export function oneExpression({ exact, under, patterns }: GatePaths): string {
  return `^(${[...exact.map(escaped), ...under.map((path) => `${escaped(path)}.*`), ...patterns].join('|')})$`;
}

function expression(pattern: string): string {
  return pattern
    .split('/')
    .slice(1)
    .map((segment) => (segment === '**' ? '(/.*)?' : segment === '*' ? '/[^/]+' : `/${escaped(encoded(segment))}`))
    .join('');
}

/** Servers compare with the path decoded: a pattern is as an operator writes it, so nothing needs to be done but this. */
function encoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
