import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { MappingError } from '../../src/account/connect/mistakes.ts';
import { startAccount, type TestAccount } from './support/account.ts';

const ID = '{ viewer { id } }';
const NAMED = 'query A { viewer { id } } query B { viewer { me: id } }';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

let account: TestAccount;
afterEach(() => account?.close());

async function start(documents: object | string, only = false): Promise<TestAccount> {
  const text = typeof documents === 'string' ? documents : JSON.stringify(documents, null, 1);
  account = await startAccount({
    call: () => Promise.reject(new Error('no upstream is needed')),
    documents: { file: { file: 'documents.json', text }, only },
  });
  return account;
}

const send = (body: object) =>
  account.send(JSON.stringify(body), { accept: 'application/graphql-response+json' }).then(({ status, body: got }) => {
    return { status, code: got.errors?.[0]?.extensions.code, data: got.data };
  });

describe('a trusted document', () => {
  test.each<[string, object]>([
    ['by the id in the file', { documentId: 'id-of-mine' }],
    ['by its SHA-256', { documentId: `sha256:${sha(ID)}` }],
    ["in Apollo's spelling", { extensions: { persistedQuery: { version: 1, sha256Hash: sha(ID) } } }],
    ['with a null beside it', { documentId: 'id-of-mine', query: null }],
  ])('can be requested %s', async (_name, body) => {
    await start({ 'id-of-mine': ID }, true);
    expect(await send(body)).toEqual({ status: 200, code: undefined, data: { viewer: { id: 'm-1001' } } });
  });

  test('may contain several operations', async () => {
    await start({ both: NAMED });
    expect((await send({ documentId: 'both', operationName: 'B' })).data).toEqual({ viewer: { me: 'm-1001' } });
  });
});

test('with only: true, every other document is refused, even one with the same text', async () => {
  await start({ a: ID }, true);
  expect(await send({ query: ID })).toEqual({ status: 400, code: 'PERSISTED_DOCUMENT_REQUIRED', data: undefined });
  expect(await send({ query: '{ nonsense' })).toMatchObject({ code: 'PERSISTED_DOCUMENT_REQUIRED' });
});

test.each([false, true])('an unknown ID is not found, and sending it stores nothing (only: %s)', async (only) => {
  await start({ a: ID }, only);
  const unknown = sha(`${ID} `);
  for (const body of [{ documentId: 'b' }, { documentId: `sha256:${unknown}` }, { documentId: '__proto__' }]) {
    expect(await send(body)).toEqual({ status: 400, code: 'PERSISTED_DOCUMENT_NOT_FOUND', data: undefined });
  }
  await send({ query: `${ID} `, extensions: { persistedQuery: { version: 1, sha256Hash: unknown } } });
  expect((await send({ documentId: `sha256:${unknown}` })).code).toBe('PERSISTED_DOCUMENT_NOT_FOUND');
});

test('without trusted documents, no ID is found', async () => {
  account = await startAccount({ call: () => Promise.reject(new Error('none')) });
  expect((await send({ documentId: 'a' })).code).toBe('PERSISTED_DOCUMENT_NOT_FOUND');
});

test.each<[string, object]>([
  ['both', { query: ID, documentId: 'a' }],
  ['an ID that is not a string', { documentId: 7 }],
  ['an invalid hash', { extensions: { persistedQuery: { sha256Hash: 'x' } } }],
  ['a hash of another text', { query: ID, extensions: { persistedQuery: { sha256Hash: sha('other') } } }],
  ['neither', { operationName: 'A' }],
])('a request with %s is malformed', async (_name, body) => {
  await start({ a: ID });
  expect(await send(body)).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
});

test('all mistakes in the file are reported at start, each with its line', async () => {
  const file = {
    good: ID,
    'bad-syntax': '{',
    'bad-field': '{ viewer { nam } }',
    'not-text': 3,
    [`sha256:${'0'.repeat(64)}`]: ID,
    'too-deep': `${'{ a'.repeat(13)}${' }'.repeat(13)}`,
  };
  const thrown = await start(file).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(MappingError);
  const { mistakes } = thrown as MappingError;
  expect(mistakes.map(({ line, coordinate }) => `${line} ${coordinate}`)).toEqual([
    '3 bad-syntax',
    '4 bad-field',
    '5 not-text',
    `6 sha256:${'0'.repeat(64)}`,
    '7 too-deep',
  ]);
  for (const text of ['[]', '{', 'null']) await expect(start(text)).rejects.toThrow(MappingError);
});
