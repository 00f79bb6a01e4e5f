import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { JsonSchema } from '../../src/config/json-schema.ts';
import { chartValues } from './chart-values.ts';

const BEGIN = '<!-- values: written by `npm run schema` -->';
const END = '<!-- end of values -->';

/** Returns the chart's README with the table of values updated from their descriptions and values.yaml. */
export function withValuesTable(readme: string): string {
  const [before, rest] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (before < 0 || rest < before) throw new Error('helm/coursegate/README.md has no place for the table of values');
  return `${readme.slice(0, before)}${BEGIN}\n${valuesTable()}\n${readme.slice(rest)}`;
}

/** The values in values.yaml, by path. */
export function defaults(): unknown {
  return parse(readFileSync(new URL('../../helm/coursegate/values.yaml', import.meta.url), 'utf8'));
}

function valuesTable(): string {
  const rows = leaves(z.toJSONSchema(chartValues) as JsonSchema, defaults(), '').map(
    ({ path, schema, value }) => `| \`${path}\` | ${shown(value)} | ${cell(String(schema.description ?? ''))} |`,
  );
  return ['| Value | Default | What it is |', '| --- | --- | --- |', ...rows].join('\n');
}

interface Leaf {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly value: unknown;
}

/** The values with their own row: our objects are listed by key, an object of Kubernetes is one value. */
export function leaves(schema: JsonSchema, value: unknown, path: string): readonly Leaf[] {
  if (schema.properties === undefined) return [{ path, schema, value }];
  return Object.entries(schema.properties).flatMap(([key, inner]) =>
    leaves(inner, (value as Record<string, unknown> | undefined)?.[key], path === '' ? key : `${path}.${key}`),
  );
}

const cell = (text: string) => text.replaceAll('|', '\\|');

function shown(value: unknown): string {
  return value === undefined ? '' : cell(`\`${JSON.stringify(value)}\``);
}
