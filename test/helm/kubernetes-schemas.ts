/**
 * Writes strict JSON Schemas of the Kubernetes kinds, so that kubeconform needs no network: one file per kind,
 * `<kind>-<group>-<version>.json`, in which an unknown field is an error.
 *
 * Arguments: the output folder, the swagger.json of Kubernetes, and files of CustomResourceDefinitions.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

type Schema = Readonly<Record<string, unknown>>;

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Some definitions leave them out, and the API server adds them. */
const OF_EVERY_OBJECT: Schema = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object' },
};

const [folder = '', swagger = '', ...definitionFiles] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const { definitions } = JSON.parse(readFileSync(swagger, 'utf8')) as { definitions: Record<string, Schema> };
const strictDefinitions = Object.fromEntries(
  Object.entries(definitions).map(([name, schema]) => [name, strict(schema)]),
);

for (const [name, schema] of Object.entries(definitions)) {
  const kinds = schema['x-kubernetes-group-version-kind'] as readonly Kind[] | undefined;
  // Definitions with many kinds are request options (DeleteOptions), and lists never occur in a chart.
  if (kinds?.length !== 1 || name.endsWith('List')) continue;
  const [kind] = kinds as readonly [Kind];
  write(kind, { $ref: `#/definitions/${name}`, definitions: reachable(name) });
}
for (const file of definitionFiles) {
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const { spec } = document.toJS() as Definition;
    for (const { name, schema } of spec.versions) {
      const { properties = {}, ...rest } = schema.openAPIV3Schema as { readonly properties?: Schema };
      const whole = { ...rest, properties: { ...OF_EVERY_OBJECT, ...properties } };
      write({ group: spec.group, version: name, kind: spec.names.kind }, strict(whole) as Schema);
    }
  }
}

function write({ group, version, kind }: Kind, schema: Schema): void {
  // For the core group, which has no name, kubeconform uses only the version.
  writeFileSync(join(folder, `${kind.toLowerCase()}-${group || version}-${version}.json`), JSON.stringify(schema));
}

/** A definition with all definitions that it references, so that the file is self-contained. */
function reachable(name: string, found: Record<string, unknown> = {}): Record<string, unknown> {
  if (found[name] !== undefined) return found;
  found[name] = strictDefinitions[name];
  for (const [, inner = ''] of JSON.stringify(found[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    reachable(inner, found);
  return found;
}

/** Makes unknown fields errors, and allows numbers for quantities and ports, as the API server does. */
function strict(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strict);
  if (typeof node !== 'object' || node === null) return node;
  const schema = node as Schema;
  if (schema.format === 'int-or-string' || String(schema.description).startsWith('Quantity is a fixed-point')) {
    return { type: ['string', 'integer', 'number'] };
  }
  if (schema['x-kubernetes-int-or-string'] === true) return { type: ['string', 'integer'] };
  const inner = Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== 'description' || typeof schema[key] !== 'string')
      .map(([key, value]) => [key, strict(value)]),
  );
  const closed =
    typeof schema.properties === 'object' &&
    schema.type === 'object' &&
    schema.additionalProperties === undefined &&
    schema['x-kubernetes-preserve-unknown-fields'] !== true;
  return closed ? { ...inner, additionalProperties: false } : inner;
}
