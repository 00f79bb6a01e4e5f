import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../src/config/json-schema.ts';

describe('schema/config.schema.json', () => {
  it('is what the code says', async () => {
    const committed: unknown = JSON.parse(
      await readFile(new URL('../../schema/config.schema.json', import.meta.url), 'utf8'),
    );
    expect(committed, 'stale: run `npm exec -- node test/tooling/write-schema.ts`').toEqual(configJsonSchema());
  });
});

describe('configJsonSchema', () => {
  it('knows the profile and asks for nothing that profiles and the catalogue supply', () => {
    const schema = configJsonSchema();
    expect(schema.properties?.profile).toMatchObject({ enum: ['A', 'B'] });
    expect(schema.required).toEqual(['version', 'origin', 'store', 'login', 'upstreams']);
    expect(schema.additionalProperties).toBe(false);
  });
});
