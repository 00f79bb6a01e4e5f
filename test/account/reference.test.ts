import { describe, expect, test } from 'vitest';
import { compileSelection } from '../../src/account/connect/evaluate.ts';
import { describeMethods } from '../../src/account/connect/methods.ts';
import { parseSelection } from '../../src/account/connect/parser.ts';
import { reference } from '../tooling/reference.ts';
import { readText } from './support/account.ts';
import { CONSTRUCTS, METHOD_EXAMPLES } from './support/examples.ts';

test('schema/REFERENCE.md is what npm run schema writes', () => {
  expect(readText('schema/REFERENCE.md')).toBe(reference());
});

test('every method has an example, and every example uses an existing method', () => {
  const names = describeMethods().map(({ call }) => /^->(\w+)/.exec(call)?.[1] ?? '');
  expect(Object.keys(METHOD_EXAMPLES).sort()).toEqual(names.toSorted());
  for (const [name, examples] of Object.entries(METHOD_EXAMPLES)) {
    expect(examples.length, name).toBeGreaterThan(0);
    for (const { selection } of examples) expect(selection).toContain(`->${name}`);
  }
});

describe('the examples of the reference return what they say', () => {
  test.each([...CONSTRUCTS, ...Object.values(METHOD_EXAMPLES).flat()])(
    '$selection of $data',
    ({ selection, data, gives, variables = {}, timeZone = 'UTC' }) => {
      const made = compileSelection(parseSelection(selection))(data, { ...variables, timeZone });
      expect(JSON.parse(JSON.stringify(made))).toEqual(gives);
    },
  );
});
