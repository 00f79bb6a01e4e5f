import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import formats from 'ajv-formats';

const FOLDER = new URL('../../../node_modules/@cyclonedx/cyclonedx-library/res/schema/', import.meta.url);
const schema = (name: string) => JSON.parse(readFileSync(new URL(`${name}.SNAPSHOT.schema.json`, FOLDER), 'utf8'));

/** What CycloneDX's own schema of version 1.6 finds wrong in a document; empty if it is valid. */
export function schemaErrors(document: string): readonly ErrorObject[] {
  // Two formats that ajv does not know, and that are only about text from package.json files.
  const ajv = new Ajv({ strict: false, formats: { 'iri-reference': true, 'idn-email': true } });
  formats.default(ajv);
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(schema('bom-1.6'));
  return validate(JSON.parse(document)) ? [] : (validate.errors ?? []);
}
