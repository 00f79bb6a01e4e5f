import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Exchange } from '../../src/http/exchange.ts';
import { ANONYMOUS } from '../../src/oauth/principal.ts';
import { ownBody } from '../../src/upstream/own-body.ts';
import { ownRecord } from '../../src/upstream/own-record.ts';
import { parameterNames } from '../../src/upstream/parameter-name.ts';

/** No configuration can cause this: a route with {member.id} never serves anonymous requests. */
const names = parameterNames(['user_id']);
const internal = expect.objectContaining({ code: 'internal' });

it.each([
  ['a path', ownRecord('/m/{member.id}', [], undefined)],
  ['a parameter', ownRecord('/m', ['user_id'], names)],
])('%s that needs a member ID fails for an anonymous request', (_what, restrict) => {
  expect(() => restrict({ path: '/m/', query: '?user_id=' }, ANONYMOUS)).toThrow(internal);
});

it('a body that needs a member ID fails for an anonymous request', async () => {
  const rawHeaders = ['Content-Type', 'application/json', 'Content-Length', '2'];
  const headers = { 'content-type': 'application/json', 'content-length': '2' };
  const request = Object.assign(Readable.from([Buffer.from('{}')]), { method: 'POST', headers, rawHeaders });
  const exchange = { request: request as unknown as IncomingMessage, principal: ANONYMOUS } as Exchange;
  await expect(ownBody(names, ['user_id'], 100)(exchange)).rejects.toThrow(internal);
});
