import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOver, startAccount, type TestAccount } from './support/account.ts';

/**
 * The audits of the GraphQL over HTTP specification, from graphql-http. The three for GET fail on purpose: GET is refused
 * with 405 and Allow, so that no query ends up in a log or a cache.
 */
const REFUSED_GETS: Readonly<Record<string, string>> = {
  '5A70': 'MAY accept application/x-www-form-urlencoded formatted GET requests',
  D6D5: 'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  '6A70': 'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
};

let account: TestAccount;
beforeAll(async () => {
  account = await startAccount({ call: callOver('http://127.0.0.1:1') });
});
afterAll(() => account.close());

test('all audits except those of GET pass', async () => {
  const audits = serverAudits({ url: account.url, fetchFn: fetch });
  const results = await Promise.all(audits.map((audit) => audit.fn()));
  const short = results.filter(({ status }) => status !== 'ok');
  expect(audits).toHaveLength(61);
  expect(Object.fromEntries(short.map(({ id, name }) => [id, name]))).toEqual(REFUSED_GETS);
});
