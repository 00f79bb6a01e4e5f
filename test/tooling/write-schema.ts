/** Writes what schema/ has from the source: the configuration's JSON Schema and the mapping's reference. */
import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import { reference } from './reference.ts';

const file = (name: string) => new URL(`../../schema/${name}`, import.meta.url);
writeFileSync(file('config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
writeFileSync(file('REFERENCE.md'), reference());
