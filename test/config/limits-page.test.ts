import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

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

/** What the schema says of a key, as the page writes it. */
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
  it('has the defaults of the configuration', () => {
    expect(ROWS.length).toBeGreaterThan(40);
    for (const { key, value } of ROWS) expect(`${key} ${value}`).toBe(`${key} ${shown(at(key)?.default)}`);
  });

  it('leaves no lifetime and no limit out', () => {
    const named = new Set(ROWS.map(({ key }) => key));
    const all = ['tokens', 'keys', 'limits', 'account.limits'].flatMap(leaves);
    const others = ['account.bodyLimit', 'mcp.bodyLimit', 'listen.maxConnections', 'events.maxAge'];
    expect([...all, ...others].filter((key) => !named.has(key))).toEqual([]);
  });
});
