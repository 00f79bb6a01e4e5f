import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { MappingError } from '../../src/account/connect/mistakes.ts';
import { buildAccountSchema } from '../../src/account/schema.ts';
import { callOver, contractFiles, MEMBER, startAccount, type TestAccount } from './support/account.ts';
import { startSchool, type TestSchool } from './support/school.ts';
import { SCOPED_CONTRACT, SCOPED_MAPPING, SCOPES } from './support/scoped.ts';

let school: TestSchool;
let account: TestAccount | undefined;

beforeAll(async () => {
  school = await startSchool(1);
});
afterEach(async () => {
  await account?.close();
  school.reset();
});
afterAll(() => school.close());

async function ask(granted: string, query = '{ viewer { id email receipts { count } } }') {
  account = await startAccount(
    {
      call: callOver(school.origin),
      schema: contractFiles(SCOPED_CONTRACT),
      mappings: [SCOPED_MAPPING],
      scopes: SCOPES,
    },
    { ...MEMBER, scope: new Set(granted.split(' ')) },
  );
  return account.ask(query);
}

const refused = (path: string[], requiredScopes: string[][], column: number) => ({
  message: 'Unauthorized field or type',
  locations: [{ line: 1, column }],
  path,
  extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE', requiredScopes },
});

test('a field whose scopes are not granted is null with an error, and no upstream is called', async () => {
  const { status, body } = await ask('account:read orders:read email');
  expect(status).toBe(200);
  expect(body).toEqual({
    data: { viewer: { id: 'm-1001', email: null, receipts: null } },
    errors: [
      refused(['viewer', 'email'], [['profile', 'email'], ['account:all']], 15),
      // The token has the field's scope, but not the scope of its type.
      refused(['viewer', 'receipts'], [['receipts:read']], 21),
    ],
  });
  expect(school.seen).toEqual([]);
});

test.each([
  ['all of one list', 'account:read profile email', 'student@example.com', null],
  ['another list', 'account:read account:all', 'student@example.com', null],
  ['the scope of the field and that of its type', 'account:read orders:read receipts:read', null, { count: 7 }],
])('%s is sufficient', async (_name, granted, email, receipts) => {
  const { body } = await ask(granted);
  expect(body.data.viewer).toEqual({ id: 'm-1001', email, receipts });
});

test('an alias or a fragment does not bypass the scopes', async () => {
  const { body } = await ask('account:read', '{ viewer { ...F } } fragment F on Viewer { mail: email }');
  expect(body.data.viewer).toEqual({ mail: null });
  expect(school.seen).toEqual([]);
});

test('introspection describes the scopes of a field, and hides the directive', async () => {
  const { body, text } = await ask(
    'account:read',
    '{ __type(name: "Viewer") { fields { name description } } __schema { directives { name } } }',
  );
  expect(body.data.__type.fields).toEqual([
    { name: 'id', description: 'Their id.' },
    { name: 'email', description: 'Their address. Needs profile and email, or account:all.' },
    { name: 'receipts', description: 'Their receipts. Needs orders:read; and receipts:read.' },
  ]);
  expect(text).not.toContain('requiresScopes');
});

const mistakes = (contract: string, scopes = SCOPES) => {
  try {
    buildAccountSchema(contractFiles(contract), [SCOPED_MAPPING], {
      upstreams: ['school'],
      scopes,
      config: { open: [], secret: [] },
    });
  } catch (thrown) {
    if (thrown instanceof MappingError) {
      return thrown.mistakes.map(({ line, coordinate, message }) => `${line} ${coordinate}: ${message}`);
    }
    throw thrown;
  }
  return [];
};

test('an unknown scope is reported where it is written', () => {
  expect(
    mistakes(
      SCOPED_CONTRACT,
      SCOPES.filter((scope) => scope !== 'email'),
    ),
  ).toEqual(['10 Viewer.email: @requiresScopes: the configuration has no scope "email"']);
});

test('a non-null field with scopes is reported, because its refusal would null the member', () => {
  expect(mistakes(SCOPED_CONTRACT.replace('email: String @', 'email: String! @'))).toContain(
    '10 Viewer.email: requires a scope, so it must be nullable',
  );
});

test('scopes that are not a list of lists are reported', () => {
  const [mistake, ...others] = mistakes(SCOPED_CONTRACT.replace('[["orders:read"]]', '[[7]]'));
  expect(mistake).toMatch(/^12 account schema: .*String cannot represent/);
  expect(others).toEqual([]);
});

test('what reading needs is the scope of the API, and those of guarded fields, the first of several', async () => {
  const mutation = 'type Mutation { change: Boolean @requiresScopes(scopes: [["account:write"]]) }';
  account = await startAccount({
    call: callOver(school.origin),
    schema: contractFiles(SCOPED_CONTRACT + mutation),
    mappings: [
      SCOPED_MAPPING,
      {
        file: 'change.graphql',
        text: `extend type Mutation {
  change: Boolean @connect(source: "school", http: { POST: "/api/v1/x" }, selection: "$(true)")
}`,
      },
    ],
    scopes: [...SCOPES, 'account:write'],
  });
  expect(account.readScopes).toEqual(['account:read', 'profile', 'email', 'orders:read', 'receipts:read']);
});
