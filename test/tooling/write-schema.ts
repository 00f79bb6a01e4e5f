/** Writes what is generated from the source: the configuration's JSON Schema and its reference, and that of mappings. */
import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { configReference } from './config-reference.ts';
import { reference } from './reference.ts';

const file = (name: string) => new URL(`../../${name}`, import.meta.url);
writeFileSync(file('schema/config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
writeFileSync(file('schema/REFERENCE.md'), reference());
writeFileSync(file('config/README.md'), configReference());
