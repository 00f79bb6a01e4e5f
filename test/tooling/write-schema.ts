/**
 * Writes the generated files: the configuration's JSON Schema and reference, the reference of mappings, and the chart's
 * schema and table of values.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { withValuesTable } from './chart-readme.ts';
import { chartSchema } from './chart-schema.ts';
import { configReference } from './config-reference.ts';
import { reference } from './reference.ts';

const file = (name: string) => new URL(`../../${name}`, import.meta.url);
writeFileSync(file('schema/config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
writeFileSync(file('schema/REFERENCE.md'), reference());
writeFileSync(file('config/README.md'), configReference());
writeFileSync(file('helm/coursegate/values.schema.json'), `${JSON.stringify(chartSchema(), null, 2)}\n`);
const readme = file('helm/coursegate/README.md');
writeFileSync(readme, withValuesTable(readFileSync(readme, 'utf8')));
