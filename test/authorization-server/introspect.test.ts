import type Provider from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { createIntrospect } from '../../src/authorization-server/introspect.ts';

const TOKEN = {
  isExpired: false,
  grantId: 'g-1',
  clientId: 'c-1',
  accountId: 'm-1',
  scope: 'openid courses:read',
  aud: 'https://school.example',
  exp: 1_800_000_600,
  jkt: undefined,
};
const GRANT = { isExpired: false, clientId: 'c-1', accountId: 'm-1' };
const MEMBER = {
  sub: 'm-1',
  email: 'sam@example.com',
  name: 'Sam',
  authTime: undefined,
  acr: undefined,
  version: undefined,
};

/** What the store has on one token. Undefined means no entry. */
interface Held {
  readonly token?: object | undefined;
  readonly grant?: object | undefined;
  readonly client?: object | undefined;
  readonly member?: typeof MEMBER | undefined;
}

function introspect(held: Held) {
  const all = { token: TOKEN, grant: GRANT, client: {}, member: MEMBER, ...held };
  const provider = {
    AccessToken: { find: async () => all.token },
    Grant: { find: async () => all.grant },
    Client: { find: async () => all.client },
  } as unknown as Provider;
  return createIntrospect(provider, { save: async () => undefined, find: async () => all.member })('value');
}

describe('introspecting an access token in process', () => {
  it('returns the member, the access and the expiry', async () => {
    expect(await introspect({})).toEqual({
      active: true,
      sub: 'm-1',
      clientId: 'c-1',
      scope: new Set(['openid', 'courses:read']),
      aud: ['https://school.example'],
      exp: 1_800_000_600,
      grantId: 'g-1',
      jkt: undefined,
      details: { email: 'sam@example.com', name: 'Sam' },
    });
  });

  it.each<[string, Held]>([
    ['it is unknown', { token: undefined }],
    ['it has expired', { token: { ...TOKEN, isExpired: true } }],
    ['it has no grant', { token: { ...TOKEN, grantId: undefined } }],
    ['it has no client', { token: { ...TOKEN, clientId: undefined } }],
    ['it has no expiry', { token: { ...TOKEN, exp: undefined } }],
    ['its scope is invalid', { token: { ...TOKEN, scope: 'a\tb' } }],
    ['its grant is gone, because it lost a race', { grant: undefined }],
    ['its grant has expired', { grant: { ...GRANT, isExpired: true } }],
    ['its grant belongs to another app', { grant: { ...GRANT, clientId: 'c-2' } }],
    ['its grant belongs to another member', { grant: { ...GRANT, accountId: 'm-2' } }],
    ['its app is gone', { client: undefined }],
    ['its member is unknown', { member: undefined }],
  ])('returns inactive when %s', async (_name, held) => {
    expect(await introspect(held)).toEqual({ active: false });
  });
});
