import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonExcess, parseBoundedJson } from '../../src/http/bounded-json.ts';

const BOUNDS = { depth: 5, values: 100, names: 20 };

/** The same counts, taken from the parsed value. */
function countsOf(value: unknown, depth = 0): { depth: number; names: Set<string> } {
  const all = { depth, names: new Set<string>() };
  if (typeof value !== 'object' || value === null) return all;
  all.depth = depth + 1;
  for (const [name, item] of Object.entries(value)) {
    if (!Array.isArray(value)) all.names.add(name);
    const inner = countsOf(item, depth + 1);
    all.depth = Math.max(all.depth, inner.depth);
    for (const one of inner.names) all.names.add(one);
  }
  return all;
}

const boundOf = (text: string): string | undefined => jsonExcess(text, BOUNDS)?.bound;

describe('JSON from outside', () => {
  it('is accepted up to each bound, and refused beyond it before it is parsed', () => {
    const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
    const named = (length: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length }, (_, at) => [`k${at}`, 1])));
    expect(boundOf(`${'['.repeat(5)}${']'.repeat(5)}`)).toBeUndefined();
    expect(boundOf('['.repeat(6))).toBe('depth');
    expect(boundOf(list(99))).toBeUndefined();
    expect(boundOf(list(100))).toBe('values');
    expect(boundOf(named(20))).toBeUndefined();
    expect(boundOf(named(40))).toBe('names');
    expect(boundOf(`[${'{"a" :1},'.repeat(45)}1]`)).toBeUndefined();
    expect(() => parseBoundedJson(list(200), BOUNDS)).toThrow('has more than 100 values');
    expect(() => parseBoundedJson('{"a":', BOUNDS)).toThrow(SyntaxError);
  });

  it('is not limited by what its strings contain', () => {
    expect(parseBoundedJson(JSON.stringify(['[{,:"\\'.repeat(100)]), BOUNDS)).toEqual(['[{,:"\\'.repeat(100)]);
  });

  it('is never refused when it is within the bounds, however it is written', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(0, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        const { depth, names } = countsOf(value);
        if (depth > 5 || names.size > 20 || text.split(/[,{[]/).length > 100) return;
        expect(parseBoundedJson(text, BOUNDS)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('never exceeds the bound on depth when it is accepted', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        if (boundOf(JSON.stringify(value)) === undefined) expect(countsOf(value).depth).toBeLessThanOrEqual(5);
      }),
      { numRuns: 2000 },
    );
  });
});
