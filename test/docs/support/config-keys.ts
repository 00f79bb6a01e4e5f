import { configJsonSchema, type JsonSchema } from '../../../src/config/json-schema.ts';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { GATEWAY_CHECKS } from '../../../src/operator/doctor/gateway/checks/checks.ts';
import type { Page } from './markdown.ts';

const ROOT = configJsonSchema();
const TOP = new Set(Object.keys(ROOT.properties ?? {}));

/** Every node of the schema at which a key in a page can start: `login`, and `whoami` in it. */
const PLACES: readonly JsonSchema[] = placesIn(ROOT);

function placesIn(schema: JsonSchema): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const visit = (one: JsonSchema) => {
    if (found.has(one)) return;
    found.add(one);
    for (const inner of insides(one)) visit(inner);
  };
  visit(schema);
  return [...found];
}

function insides(schema: JsonSchema): JsonSchema[] {
  const { anyOf = [], oneOf = [], allOf = [], properties = {}, additionalProperties, items } = schema;
  const more = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [
    ...anyOf,
    ...oneOf,
    ...((allOf as JsonSchema[]) ?? []),
    ...Object.values(properties),
    ...more,
    ...(items ? [items] : []),
  ];
}

/** The alternatives of a node, and the items of a list. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const { anyOf = [], oneOf = [], items } = schema;
  return [schema, ...[...anyOf, ...oneOf, ...(items === undefined ? [] : [items])].flatMap(alternatives)];
}

function step(from: readonly JsonSchema[], name: string): JsonSchema[] {
  return from.flatMap(alternatives).flatMap(({ properties = {}, additionalProperties }) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) return [own];
    return typeof additionalProperties === 'object' ? [additionalProperties] : [];
  });
}

/**
 * Whether the configuration has this key, from the top level or from any node: a page about `login` may write
 * `whoami.version`. `*` and NAME stand for a name chosen by the operator, `[]` and `[0]` for list items.
 */
export function isConfigPath(path: string): boolean {
  const names = path.replace(/\[\d*\]/g, '').split('.');
  return PLACES.some(
    (place) => names.reduce(step, [place]).length > 0 && Object.hasOwn(place.properties ?? {}, names[0] ?? ''),
  );
}

/** Names with the same prefix from other vocabularies: files, fields of the Elastic Common Schema, JSON members. */
const OTHERS =
  /\.(?:ts|js|json|ya?ml|md|graphql|svg|php|py|rb|java|sh|db|lock|conf|txt|key|crt|test|example|local|internal|site|com|org)$/;
const ECS =
  /^(?:log\.(?:level|logger)|client\.(?:address|ip|id)|event\.\w+|http\.\w+|url\.\w+|source\.\w+|user\.\w+|trace\.id|service\.\w+)/;

/** The doctor's checks, the files that `coursegate init` writes, and values of the chart. */
const NAMES: ReadonlySet<string> = new Set([
  ...[...CHECKS, ...GATEWAY_CHECKS].map(({ id }) => id),
  'admin.secret',
  'bridge.secret',
  'recheck.key',
  'secret.existingSecret',
  'secret.key',
]);

/** Returns each configuration key that a page names, with its line; for `login.kind: session`, the part before the colon. */
export function configPathsOf({ prose }: Page): readonly { readonly line: number; readonly path: string }[] {
  return prose.flatMap(({ number, text }) =>
    [...text.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => {
      const [, path] = /^([a-zA-Z$]+(?:\[\d*\])?(?:\.(?:[A-Za-z]+|\*)(?:\[\d*\])?)+)(?::(?: .*)?)?$/.exec(code) ?? [];
      if (path === undefined || OTHERS.test(path) || ECS.test(path) || NAMES.has(path)) return [];
      return TOP.has(path.split(/[.[]/, 1)[0] ?? '') ? [{ line: number, path }] : [];
    }),
  );
}
