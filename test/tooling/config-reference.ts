import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { profileFile, profileNames, SCOPES_FILE } from '../../src/config/profiles.ts';

/** The text of config/README.md: every key of the configuration, from the schema that judges it. */
export function configReference(): string {
  const { properties = {}, required = [] } = configJsonSchema();
  const keys = Object.keys(properties).filter((key) => key !== '$schema');
  return `${[INTRODUCTION, contents(keys), ...keys.map((key) => section(key, properties[key] ?? {}, required.includes(key))), profiles(), scopes()].join('\n\n')}\n`;
}

const INTRODUCTION = `# Configuration

Written by \`npm run schema\` from the schema that judges the file; do not edit. How to begin is in
[coursegate.yaml](coursegate.yaml), which runs the demo, and in [examples](examples).

One YAML file, and over it the environment; under it the profile, and the catalogue of scopes. The stronger says it:

1. \`COURSEGATE__LISTEN__PORT=9000\` is \`listen.port\`: two underscores nest, and neither case nor single underscores count. A
   list is set whole, in YAML: \`COURSEGATE__LISTEN__TRUSTED_PROXIES='[10.0.0.0/8]'\`. Short names that platforms set:
   \`COURSEGATE_PROFILE\` (\`profile\`), \`PORT\` (\`listen.port\`), \`ADMIN_PORT\` (\`listen.admin.port\`), \`COURSEGATE_DATA\`
   (\`store.path\` = DIR/coursegate.db).
2. Your file. Paths in it begin at its folder.
3. What \`mcp.file\` names.
4. The [profile](#profiles), then the [scopes](#the-catalogue-of-scopes).

Mappings are merged key by key, one of another \`kind\` and every list is replaced whole. An unknown key is a mistake.

- A **duration** is \`500ms\`, \`30s\`, \`10m\`, \`8h\` or \`30d\`; a **size** is \`64KiB\` or \`1MiB\`.
- A **secret** is never written here: \`{ env: NAME }\` or \`{ file: PATH }\` says where it is read.
- A **rate** is \`{ requests: 600, per: 1m }\` or \`unlimited\`; \`per\` is from \`1s\` to \`1d\`.
- A **text** that members read is one for everybody, or one for each language: \`{ en: …, es: … }\`.

\`coursegate check FILE\` names every mistake with its line and column, all at once, and starts nothing;
\`--format github\` puts them on the lines of a pull request, \`--format json\` is for programs.
\`coursegate config print --config FILE\` shows what holds in the end, defaults included, with no secret in it;
with \`--origins\` also where each setting was made.`;

function contents(keys: readonly string[]): string {
  return [
    ...keys.map((key) => `[\`${key}\`](#${key.toLowerCase()})`),
    '[profiles](#profiles)',
    '[scopes](#the-catalogue-of-scopes)',
  ].join(' · ');
}

interface Row {
  readonly key: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function section(key: string, schema: JsonSchema, required: boolean): string {
  const title = `## \`${key}\``;
  const about = sentence(schema.description);
  const kinds = kindsOf(schema);
  if (kinds === undefined) {
    const rows = rowsOf('', schema);
    if (rows.length === 0) return `${title}\n\n${about}\n\n${line(schema, required)}`;
    return `${title}\n\n${about}${named(schema)}\n\n${table(rows)}`;
  }
  const all = kinds.map((kind) => ({ kind, rows: rowsOf('', kind.schema) }));
  const shared = (row: Row) => all.every(({ rows }) => rows.some((other) => isDeepStrictEqual(row, other)));
  const common = all[0]?.rows.filter(shared) ?? [];
  // What several kinds have, and not all, is written out once, under their names.
  const groups = sharedGroups(
    all.map(({ kind, rows }) => ({ name: kind.name, rows: rows.filter((row) => !shared(row)) })),
  );
  return [
    title,
    `${about} ${required ? 'It must be there. ' : ''}\`kind\` is one of ${kinds.map(({ name }) => `\`${name}\``).join(', ')}.`,
    ...groups.map(
      ({ names, rows }) => `### \`${key}\` of kind ${names.map((name) => `\`${name}\``).join(', ')}\n\n${table(rows)}`,
    ),
    ...(common.length === 0 ? [] : [`### \`${key}\` of every kind\n\n${table(common)}`]),
  ].join('\n\n');
}

function sharedGroups(kinds: readonly { readonly name: string; readonly rows: readonly Row[] }[]) {
  const groups: { names: string[]; rows: Row[] }[] = kinds.map(({ name }) => ({ names: [name], rows: [] }));
  const written = new Set<string>();
  for (const { rows } of kinds) {
    for (const row of rows) {
      const names = kinds
        .filter((kind) => kind.rows.some((other) => isDeepStrictEqual(row, other)))
        .map(({ name }) => name);
      const id = `${row.key} ${names.join()}`;
      if (written.has(id)) continue;
      written.add(id);
      const group = groups.find((one) => one.names.join() === names.join());
      if (group === undefined) groups.push({ names, rows: [row] });
      else group.rows.push(row);
    }
  }
  return groups.filter(({ rows }) => rows.length > 0);
}

/** The variants of a mapping that its \`kind\` tells apart; undefined for everything else. */
function kindsOf(schema: JsonSchema): readonly { readonly name: string; readonly schema: JsonSchema }[] | undefined {
  const variants = schema.oneOf ?? schema.anyOf ?? [];
  const kinds = variants.flatMap((variant) => {
    const name = variant.properties?.kind?.const;
    return typeof name === 'string' ? [{ name, schema: variant }] : [];
  });
  return kinds.length > 0 && kinds.length === variants.length ? kinds : undefined;
}

function rowsOf(prefix: string, schema: JsonSchema, of = ''): readonly Row[] {
  const { properties = {}, required = [], additionalProperties, items } = schema;
  const own = Object.entries(properties)
    .filter(([key]) => key !== 'kind')
    .flatMap(([key, child]): Row[] => {
      const row = { key: `${prefix}${key}`, schema: child, required: required.includes(key) };
      const kinds = kindsOf(child);
      if (kinds !== undefined) {
        return [row, ...kinds.flatMap((kind) => rowsOf(`${prefix}${key}.`, kind.schema, `, kind ${kind.name}`))];
      }
      return [row, ...(isLeaf(child) ? [] : rowsOf(`${prefix}${key}.`, child))];
    })
    .map((row) => (of === '' ? row : { ...row, key: `${row.key}${of}` }));
  const each =
    typeof additionalProperties === 'object' && !isLeaf(additionalProperties) ? additionalProperties : undefined;
  const entry = each === undefined ? [] : rowsOf(`${prefix}NAME.`, each);
  const element = items === undefined || isLeaf(items) ? [] : rowsOf(`${prefix.replace(/\.$/, '')}[].`, items);
  return [...own, ...entry, ...element.map((row) => ({ ...row, key: row.key.replace(/^\[\]\./, '') }))];
}

/** What is written in one go and explained at the top: a secret, a rate, a text. */
function isLeaf(schema: JsonSchema): boolean {
  return isSecret(schema) || isRate(schema) || isText(schema);
}

const optionKeys = ({ anyOf = [] }: JsonSchema) =>
  anyOf.map((option) => Object.keys(option.properties ?? {}).join()).join('|');
const isSecret = (schema: JsonSchema) => optionKeys(schema) === 'env|file';
const isRate = (schema: JsonSchema) => optionKeys(schema) === 'requests,per|';
const isText = (schema: JsonSchema) => optionKeys(schema) === '|en,es';

function table(rows: readonly Row[]): string {
  return ['| key | value | default | what it is |', '|---|---|---|---|', ...rows.map(rowText)].join('\n');
}

function rowText({ key, schema, required }: Row): string {
  const [path, of = ''] = key.split(', ');
  const must = required && schema.default === undefined ? '**must be there**' : shown(schema.default);
  return `| \`${path}\`${of === '' ? '' : `, ${of}`} | ${typeOf(schema)} | ${must} | ${cell(sentence(schema.description))} |`;
}

function line(schema: JsonSchema, required: boolean): string {
  const otherwise = required
    ? 'It must be there.'
    : schema.default === undefined
      ? 'It may be left out.'
      : `Default: ${shown(schema.default)}.`;
  return `Value: ${typeOf(schema).replaceAll('\\|', '|')}. ${otherwise}`;
}

function named({ additionalProperties, items }: JsonSchema): string {
  if (items !== undefined) return ' A list; of each:';
  return typeof additionalProperties === 'object' ? ' A mapping; `NAME` is a name of your own.' : '';
}

/** A mapping's own default is nothing to see: its keys have theirs. */
function shown(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && value !== null && JSON.stringify(value) === '{}')) return '';
  return `\`${cell(flow(value))}\``;
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key}: ${flow(inner)}`)
      .join(', ')} }`;
  }
  return String(value);
}

function typeOf(schema: JsonSchema): string {
  if (isSecret(schema)) return 'secret';
  if (isRate(schema)) return 'rate';
  if (isText(schema)) return 'text, by language';
  const { anyOf, oneOf, enum: options, const: only, type, items, pattern, additionalProperties, properties } = schema;
  if (only !== undefined) return `\`${String(only)}\``;
  if (options !== undefined) return options.map((option) => `\`${String(option)}\``).join(' \\| ');
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].join(' \\| ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (type === 'string') return textType(String(pattern ?? ''));
  if (type === 'integer') return `whole number${range(schema)}`;
  if (type === 'boolean') return '`true` \\| `false`';
  if (type === 'object' || properties !== undefined) {
    const each = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : '';
    return each === '' || each === 'mapping' || each === 'any' ? 'mapping' : `mapping of names to ${each}`;
  }
  return Array.isArray(type)
    ? type.map((one) => textOrLogical[String(one)] ?? String(one)).join(' \\| ')
    : (type ?? 'any');
}

const textOrLogical: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: '`true` \\| `false`',
  null: '`null`',
};

function textType(pattern: string): string {
  if (pattern === '^\\d+(ms|s|m|h|d)$') return 'duration';
  if (pattern === '^\\d+(B|KiB|MiB|GiB)$') return 'size';
  if (pattern === '^(unlimited|\\d+(B|KiB|MiB|GiB))$') return 'size \\| `unlimited`';
  return 'text';
}

function range({ minimum, maximum }: JsonSchema): string {
  const [least, most] = [minimum, maximum].map((value) => (Math.abs(Number(value)) < 2 ** 53 - 1 ? value : undefined));
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `, ${String(least)} or more`;
  return `, ${String(least ?? '…')} to ${String(most)}`;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function sentence(text: unknown): string {
  const given = String(text ?? '');
  return given === '' || /[.:?!]$/.test(given) ? given : `${given}.`;
}

function profiles(): string {
  const layers = profileNames().map((name) => [name, parse(readFileSync(profileFile(name), 'utf8'))] as const);
  const rows = layers.map(
    ([name, layer]) =>
      `| \`${name}\` | ${Object.entries(layer)
        .map(([key, value]) => `\`${key}: ${flow(value)}\``)
        .join(', ')} |`,
  );
  return [
    '## Profiles',
    'What a profile sets; your file may say otherwise, key by key.',
    ['| profile | sets |', '|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}

function scopes(): string {
  const catalogue: Record<string, { kind: string; title: string | Record<string, string> }> = parse(
    readFileSync(SCOPES_FILE, 'utf8'),
  ).scopes;
  const rows = Object.entries(catalogue).map(
    ([token, { kind, title }]) =>
      `| \`${token}\` | ${kind} | ${cell(typeof title === 'string' ? title : (title.en ?? ''))} |`,
  );
  return [
    '## The catalogue of scopes',
    'What is there without a word of yours; `scopes` adds to it, and gives others titles.',
    ['| scope | kind | what the member reads |', '|---|---|---|', ...rows].join('\n'),
  ].join('\n\n');
}
