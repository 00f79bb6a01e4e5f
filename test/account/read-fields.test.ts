import { parse } from 'graphql';
import { expect, it } from 'vitest';
import { mutationFields, readFields } from '../../src/account/read-fields.ts';

it.each<[string, string, object | null | undefined, string[]]>([
  [
    'the fields below the first level',
    '{ viewer { id orders { totalCount } } }',
    { viewer: { id: '1', orders: {} } },
    ['viewer.id', 'viewer.orders'],
  ],
  ['them by their own names', '{ me: viewer { mail: email } }', { me: { mail: 'a' } }, ['viewer.email']],
  [
    'each once',
    '{ a: viewer { id } b: viewer { id i: id } }',
    { a: { id: '1' }, b: { id: '1', i: '1' } },
    ['viewer.id'],
  ],
  [
    'the fields of fragments',
    '{ ...A } fragment A on Query { viewer { ... on Viewer { ...B } } } fragment B on Viewer { id }',
    { viewer: { id: '1' } },
    ['viewer.id'],
  ],
  ['no null values', '{ viewer { id email } }', { viewer: { id: '1', email: null } }, ['viewer.id']],
  ['no skipped fields', '{ viewer { id email @skip(if: true) } }', { viewer: { id: '1' } }, ['viewer.id']],
  ['no fields of a null parent', '{ viewer { id } }', { viewer: null }, []],
  [
    'no schema fields',
    '{ __typename __schema { description } viewer { __typename } }',
    { __typename: 'Query', __schema: {}, viewer: { __typename: 'Viewer' } },
    [],
  ],
  ['a list by its own name', '{ courses { slug } }', { courses: [{ slug: 'a' }] }, ['courses']],
  [
    'what a mutation did, not what it returned',
    'mutation { save { courseSlug } }',
    { save: { courseSlug: 'a' } },
    ['save'],
  ],
  ['nothing without data', '{ viewer { id } }', undefined, []],
  ['nothing of null data', '{ viewer { id } }', null, []],
])('readFields returns %s', (_title, document, data, fields) => {
  expect(readFields(parse(document), undefined, data as never)).toEqual(fields);
});

it('readFields looks at the operation that was run', () => {
  const document = parse('query A { viewer { id } } query B { viewer { email } }');
  expect(readFields(document, 'B', { viewer: { email: 'a' } })).toEqual(['viewer.email']);
});

it('mutationFields names each called field once, sorted, without the schema fields', () => {
  const document = parse(
    'mutation { save { id } __typename a: save { id } ...F } fragment F on Mutation { cancel { id } }',
  );
  expect(mutationFields(document, undefined)).toBe('cancel,save');
  expect(mutationFields(parse('{ viewer { id } }'), undefined)).toBeUndefined();
});
