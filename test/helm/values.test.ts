import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import type { JsonSchema } from '../../src/config/json-schema.ts';
import { defaults, leaves, withValuesTable } from '../tooling/chart-readme.ts';
import { chartSchema } from '../tooling/chart-schema.ts';
import { chartValues } from '../tooling/chart-values.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const described = leaves(z.toJSONSchema(chartValues) as JsonSchema, defaults(), '');

describe('the values of the chart', () => {
  it('have an up-to-date schema', () => {
    const committed: unknown = JSON.parse(read('helm/coursegate/values.schema.json'));
    expect(committed, 'stale: npm run schema').toEqual(JSON.parse(JSON.stringify(chartSchema())));
  });

  it('have an up-to-date table', () => {
    const readme = read('helm/coursegate/README.md');
    expect(readme, 'stale: npm run schema').toBe(withValuesTable(readme));
  });

  it.each(described.filter(({ path }) => path !== 'global' && path !== 'enabled'))(
    'have a default and a description for $path',
    ({ schema, value }) => {
      expect(value).not.toBeUndefined();
      expect(schema.description).toMatch(/^[^ ].*[.)]$/s);
    },
  );

  it('have no key in values.yaml that the schema lacks', () => {
    expect(chartValues.safeParse(defaults()).error?.issues ?? []).toEqual([]);
  });

  it('include the gate’s whole configuration, except for what Helm cannot validate', () => {
    const { properties, allOf } = chartSchema();
    const configuration = JSON.parse(read('schema/config.schema.json')) as JsonSchema;
    const config = properties?.config as JsonSchema;
    expect(Object.keys(config.properties ?? {})).toEqual(Object.keys(configuration.properties ?? {}));
    expect(configuration.else?.required).toEqual(['version', 'origin', 'store', 'login', 'upstreams']);
    expect(JSON.stringify(allOf)).toContain(
      '"else":{"properties":{"config":{"required":["origin","login","upstreams"]}}',
    );
    expect(JSON.stringify(config)).not.toContain('(?!');
    expect(new Ajv2020({ strict: false, logger: false }).compile(chartSchema())).toBeTypeOf('function');
  });

  it('have the version of the program', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect((parse(read('helm/coursegate/Chart.yaml')) as { appVersion: string }).appVersion).toBe(version);
  });
});
