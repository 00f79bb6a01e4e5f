import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as constants from '../../src/config/constants.ts';

const text = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Node {
  readonly $ref?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Node>>;
}

const SCHEMA = JSON.parse(text('schema/config.schema.json')) as Node;

function follow(node: Node): Node {
  if (node.$ref === undefined) return node;
  const { $ref, ...own } = node;
  const steps = $ref.replace(/^#\//, '').split('/');
  return { ...steps.reduce((at, step) => (at as Record<string, Node>)[step] as Node, SCHEMA), ...own };
}

function at(key: string): Node | undefined {
  return key
    .split('.')
    .reduce<Node | undefined>(
      (node, name) => (node === undefined ? undefined : follow(node).properties?.[name]),
      SCHEMA,
    );
}

/** A default value of the schema as the page writes it. */
function shown(value: unknown): string {
  const rate = value as { requests?: number; per?: string };
  return typeof value === 'object' && rate?.requests !== undefined ? `${rate.requests} per ${rate.per}` : String(value);
}

function leaves(key: string): readonly string[] {
  const node = follow(at(key) ?? {});
  return node.properties === undefined
    ? [key]
    : Object.keys(node.properties).flatMap((name) => leaves(`${key}.${name}`));
}

const ROWS = [...text('docs/limits.md').matchAll(/^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \| [^|]+ \|$/gm)].map(
  ([, value = '', key = '']) => ({ key, value }),
);

describe('docs/limits.md', () => {
  it('lists the configuration’s defaults', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(20);
    for (const { key, value } of ROWS) expect(`${key} ${value}`).toBe(`${key} ${shown(at(key)?.default)}`);
  });

  it('lists every lifetime and limit', () => {
    const named = new Set(ROWS.map(({ key }) => key));
    const all = ['tokens', 'keys', 'limits', 'account.limits'].flatMap(leaves);
    expect([...all, 'listen.maxConnections'].filter((key) => !named.has(key))).toEqual([]);
  });

  it.each([
    ['Authorization code', `${constants.CODE_LIFETIME}s`],
    ['App that no member has connected', `${constants.UNUSED_APP_LIFETIME / 3600}h`],
    ['Stored result for an idempotency key', `${constants.MCP.idempotencyWindow / 3600}h`],
    ['Event that cannot be delivered', `${constants.EVENTS.maxAge / 86_400}d`],
    ['Idempotency keys of one member', `${constants.MCP.idempotencyKeys}`],
    ['Pending events', `${constants.EVENTS.maxPending}`],
    ['Path and query', `${constants.LONGEST_URL / 1024}KiB`],
    ['GraphQL request', `${constants.ACCOUNT.bodyLimit / 1024}KiB`],
    ['MCP request', `${constants.MCP.bodyLimit / 1024 ** 2}MiB`],
    ["One string in a tool's result", `${constants.MCP.longestText}`],
    ['Tool', `${constants.MCP.deadline}s`],
    ['Tool that reports progress, at most', `${constants.MCP.longestCall}s`],
    ["A tool's result", `${constants.MCP.largestResult / 1024}KiB`],
    ['Tokens in the document', `${constants.ACCOUNT_LIMITS.tokens}`],
    ['Depth', `${constants.ACCOUNT_LIMITS.depth}`],
    ['Fields', `${constants.ACCOUNT_LIMITS.fields}`],
    ['Aliases', `${constants.ACCOUNT_LIMITS.aliases}`],
    ['Root fields', `${constants.ACCOUNT_LIMITS.rootFields}`],
    ['Directives', `${constants.ACCOUNT_LIMITS.directives}`],
    ['`first` of a list', `${constants.ACCOUNT_LIMITS.pageSize}`],
    ['Request headers', `${constants.LISTEN.headTimeout}s`],
    ['Request body: minimum rate per second', `${constants.LISTEN.uploadRate}B`],
    ['Response: longest time without the client reading', `${constants.LISTEN.stall}s`],
    ['GraphQL operation', `${constants.ACCOUNT.deadline}s`],
    ['Tool', `${constants.MCP.deadline}s`],
  ])('lists the constant: %s', (what, value) => {
    expect(text('docs/limits.md')).toContain(`\n| ${what} | \`${value}\` | fixed |`);
  });
});
