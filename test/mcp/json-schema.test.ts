import { describe, expect, it } from 'vitest';
import { schemaCompiler } from '../../src/mcp/json-schema.ts';

describe('schemas that are compiled one after another', () => {
  const first = { type: 'object', properties: { slug: { $id: 'https://school.example/slug', type: 'string' } } };

  it('may have the same $id without affecting each other', () => {
    const compile = schemaCompiler();
    const text = compile(first);
    const number = compile({
      type: 'object',
      properties: { slug: { $id: 'https://school.example/slug', type: 'integer' } },
    });
    if (typeof text !== 'function' || typeof number !== 'function') throw new Error(JSON.stringify([text, number]));
    expect([text({ slug: 'a' }), number({ slug: 1 })]).toEqual([undefined, undefined]);
    expect([text({ slug: 1 }), number({ slug: 'a' })]).toEqual(['slug must be string', 'slug must be integer']);
  });

  it('cannot reference one another, and an invalid one does not affect the next', () => {
    const compile = schemaCompiler();
    expect(compile(first)).toBeTypeOf('function');
    const reaching = { type: 'object', properties: { slug: { $ref: 'https://school.example/slug' } } };
    expect(compile(reaching)).toEqual({ mistake: expect.stringContaining("can't resolve reference") });
    expect(compile({ type: 'object', properties: { n: { typ: 'integer' } } })).toEqual({
      mistake: expect.stringContaining('unknown keyword: "typ"'),
    });
    expect(compile(first)).toBeTypeOf('function');
  });
});
