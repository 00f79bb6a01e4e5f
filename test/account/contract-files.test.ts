import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeTypeDefs } from '@graphql-tools/merge';
import { printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { MappingError } from '../../src/account/connect/mistakes.ts';
import { buildAccountSchema } from '../../src/account/schema.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkInterfaces } from '../../src/generation/interfaces.ts';
import { CONTRACT_FILE, EVENTS_MAPPING_FILE, EVENTS_SCHEMA_FILE, MAPPING_FILE } from './support/account.ts';

const ACCOUNT = {
  file: 'account/account.graphql',
  text: 'type Query { viewer: Viewer! }\ntype Viewer { id: ID!\n  email: String }',
};
const ORDERS = {
  file: 'account/orders.graphql',
  text: 'extend type Viewer {\n  orders: [Order!]\n}\n\ntype Order {\n  number: String\n}',
};
const MAPPING = {
  file: 'mappings/school.graphql',
  text: `extend schema @source(name: "school")
extend type Viewer {
  email: String @connect(source: "school", http: { GET: "/me" }, selection: "$.email")
  orders: [Order!] @connect(source: "school", http: { GET: "/orders" }, selection: "number")
}`,
};
const KNOWN = {
  upstreams: ['school'],
  scopes: ['orders:read'],
  config: { open: [], secret: [] },
  merge: mergeTypeDefs,
};

type Files = Parameters<typeof buildAccountSchema>[0];

function mistakesOf(files: Files, mappings: Files = [MAPPING]): string[] {
  try {
    buildAccountSchema(files, mappings, KNOWN);
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    return thrown.message.split('\n').slice(1);
  }
  return [];
}

/** The orders file with one line added or changed. */
const orders = (from: string, to: string) => ({ ...ORDERS, text: ORDERS.text.replace(from, to) });

test('a contract in several files is the same as in one, in any order', () => {
  const whole = [{ file: 'all.graphql', text: `${ACCOUNT.text}\n${ORDERS.text}` }];
  const { schema } = buildAccountSchema(whole, [MAPPING], KNOWN);
  expect(printSchema(schema)).toContain('  email: String\n  orders: [Order!]\n');
  expect(printSchema(buildAccountSchema([ACCOUNT, ORDERS], [MAPPING], KNOWN).schema)).toBe(printSchema(schema));
  expect(mistakesOf([ORDERS, ACCOUNT])).toEqual([]);
});

test('the whole contract is the same when every type has its own file', () => {
  const known = { upstreams: ['school', 'progress', 'events'], recorded: [EVENTS_SCHEMA_FILE] };
  const build = (files: Files) =>
    printSchema(
      buildAccountSchema(files, [MAPPING_FILE, EVENTS_MAPPING_FILE], {
        ...known,
        scopes: ['account:read', 'account:write', 'orders:read'],
        config: { open: ['currency'], secret: [] },
      }).schema,
    );
  const parts = CONTRACT_FILE.split(/\n\n+(?=["a-z])/).map((text, at) => ({ file: `${at}.graphql`, text }));
  expect(parts.length).toBeGreaterThan(20);
  expect(build(parts)).toBe(build([{ file: 'account.graphql', text: CONTRACT_FILE }]));
});

test.each<[what: string, files: Files, said: string[]]>([
  [
    'a syntax mistake',
    [ACCOUNT, orders('[Order!]', '[Order!')],
    ['  account/orders.graphql:3:1 account schema: Syntax Error: Expected "]", found "}".'],
  ],
  [
    'a syntax mistake in each file',
    [{ ...ACCOUNT, text: 'typ' }, orders('type Order', 'type')],
    [
      '  account/account.graphql:1:1 account schema: Syntax Error: Unexpected Name "typ".',
      '  account/orders.graphql:5:6 account schema: Syntax Error: Expected Name, found "{".',
    ],
  ],
  [
    'a type in two files',
    [ACCOUNT, orders('type Order', 'type Query { other: Int }\ntype Order')],
    [
      '  account/orders.graphql:5:6 account schema: There can be only one type named "Query". The other is at account/account.graphql:1:6.',
    ],
  ],
  [
    'a field in two files',
    [ACCOUNT, orders('orders: [', 'email: Int\n  orders: [')],
    [
      '  account/orders.graphql:2:3 account schema: Field "Viewer.email" can only be defined once. The other is at account/account.graphql:3:3.',
    ],
  ],
  [
    'a missing type',
    [ACCOUNT, orders('number: String', 'number: Sting')],
    ['  account/orders.graphql:6:11 account schema: Unknown type "Sting". Did you mean "String" or "Int"?'],
  ],
  [
    'an extension of a missing type',
    [ACCOUNT, orders('extend type Viewer', 'extend type Member')],
    [expect.stringMatching(/^ {2}account\/orders\.graphql:1:13 account schema: Cannot extend type "Member"/)],
  ],
  [
    'a type that breaks its interface',
    [ACCOUNT, orders('type Order', 'interface Item { title: String }\ntype Order implements Item')],
    [
      '  account/orders.graphql:5:18 account schema: Interface field Item.title expected but Order does not provide it.',
    ],
  ],
  [
    'no query',
    [{ ...ACCOUNT, text: 'type Viewer { id: ID! }' }, ORDERS],
    ['  account/account.graphql:1:1 account schema: Query root type must be provided.'],
  ],
  [
    'an invalid weight',
    [ACCOUNT, orders('[Order!]', '[Order!] @cost(weight: "a lot")')],
    [expect.stringMatching(/^ {2}account\/orders\.graphql:2:20 account schema: .*Int cannot represent/)],
  ],
  [
    'a field without a source',
    [ACCOUNT, orders('number: String', 'number: String\n  paid: Boolean')],
    ['  mappings/school.graphql:4:85 Order.paid: nothing provides this field'],
  ],
  [
    'a field that the mapping would have to allow to be null',
    [ACCOUNT, orders('[Order!]', '[Order!]!')],
    [expect.stringMatching(/^ {2}mappings\/school\.graphql:4:11 Viewer\.orders: is \[Order!\]! in the contract/)],
  ],
  [
    'an undeclared scope on an extension',
    [ACCOUNT, orders('type Viewer', 'type Viewer @requiresScopes(scopes: [["orders:write"]])')],
    [
      expect.stringMatching(/^ {2}account\/account\.graphql:1:14 Query\.viewer: requires a scope/),
      expect.stringMatching(/^ {2}account\/account\.graphql:1:14 Query\.viewer: .*no scope "orders:write"/),
      expect.anything(),
      expect.anything(),
      expect.anything(),
      expect.stringMatching(/^ {2}account\/orders\.graphql:2:3 Viewer\.orders: .*no scope "orders:write"/),
    ],
  ],
])('%s is reported with its file, line and column', (_what, files, said) => {
  expect(mistakesOf(files)).toEqual(said);
});

test('a contract with extensions is refused without what merges them', () => {
  expect(() => buildAccountSchema([ACCOUNT, ORDERS], [MAPPING], { ...KNOWN, merge: undefined })).toThrow(
    'A contract with extensions needs what merges them',
  );
});

test('a directive with the same name as a type is kept', () => {
  const named = orders('type Order', 'directive @Order on FIELD_DEFINITION\ntype Order');
  expect(buildAccountSchema([ACCOUNT, named], [MAPPING], KNOWN).schema.getDirective('Order')).toBeDefined();
});

test('a mistake is reported with the path from the configuration, and without it the files are accepted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'contract-'));
  await mkdir(join(folder, 'account'));
  await mkdir(join(folder, 'mappings'));
  for (const { file, text } of [ACCOUNT, orders('number: String', 'number: Sting'), MAPPING]) {
    await writeFile(join(folder, file), text);
  }
  const file = join(folder, 'gate.yaml');
  await writeFile(
    file,
    `version: 1
profile: A
origin: http://localhost:8080
login: { kind: session, upstream: school, whoami: { path: /api/me, subject: /id }, loginUrl: /login, returnParam: r, cookies: [s] }
store: { kind: memory }
site: { upstream: school }
upstreams: { school: { url: "http://127.0.0.1:9" } }
account: { schema: account/*.graphql, mappings: mappings/*.graphql }
`,
  );
  const loaded = await loadConfig({ file, environment: {} });
  await expect(checkInterfaces(loaded)).rejects.toThrow(
    /^account\/orders\.graphql:6:11 {2}account schema: Unknown type/,
  );
  await writeFile(join(folder, ORDERS.file), ORDERS.text);
  await checkInterfaces(await loadConfig({ file, environment: {} }));
});
