/** Writes schema/config.schema.json anew: `npm exec -- node test/tooling/write-schema.ts`. */
import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/json-schema.ts';

const file = new URL('../../schema/config.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
