import { beforeEach, describe, expect, it } from 'vitest';
import { type BackendSessions, storedBackendSessions } from '../../src/authorization-server/backend-sessions.ts';
import { storedGrants } from '../../src/authorization-server/grants.ts';
import { carriedOver } from '../../src/config/carried-over.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import type { Store } from '../../src/storage/store.ts';
import { createCredentials } from '../../src/upstream/credentials/create-credentials.ts';
import type { Credential } from '../../src/upstream/credentials/credential.ts';
import { sessionReplay } from '../../src/upstream/credentials/session-replay.ts';
import { upstreamConfig } from '../support/upstream-config.ts';
import { MEMBER } from '../upstream/gate.ts';

const WHY = { by: 'operator', reason: 'grant_revoked' } as const;

let store: Store;
let sessions: BackendSessions;
beforeEach(async () => {
  store = sealedStore(memoryStore(Date.now), 's'.repeat(32));
  sessions = storedBackendSessions(store, ['sid', 'remember_*']);
  const payload = { jti: MEMBER.grantId, accountId: MEMBER.sub, clientId: MEMBER.clientId, iat: 1 };
  const references = { grant: MEMBER.grantId, member: MEMBER.sub, client: MEMBER.clientId };
  const entry = { kind: 'Grant', id: MEMBER.grantId, payload: JSON.stringify(payload), expiresAt: 4e9, references };
  await store.commit([{ op: 'put', entry }]);
  await sessions.keep(MEMBER.grantId, 'theme=dark; sid=one; coursegate_x=1; remember_me=a=b');
});

const found = async () => {
  const session = await sessions.find(MEMBER.grantId);
  if (session === undefined) throw new Error('there is none');
  return session;
};
const cookies = async () => Object.fromEntries((await found()).cookies);

describe('backend sessions of a grant', () => {
  it('store the listed cookies, and no others, for as long as the grant', async () => {
    expect(await cookies()).toEqual({ sid: 'one', remember_me: 'a=b' });
    const [entry] = await store.findBy('BackendSession', 'grant', MEMBER.grantId);
    expect(entry?.expiresAt).toBe(4e9);
  });

  it('are changed by only one of two concurrent writers', async () => {
    const same = await found();
    expect(await Promise.all(['two', 'three'].map((sid) => sessions.replace(same, [['sid', sid]])))).toEqual([
      true,
      false,
    ]);
    expect(await cookies()).toEqual({ sid: 'two' });
    expect(await sessions.replace(await found(), [['sid', 'four']])).toBe(true);
    expect(await sessions.replace(same, [['sid', 'five']])).toBe(false);
    expect(await store.findBy('BackendSession', 'grant', MEMBER.grantId)).toHaveLength(1);
  });

  it('are neither restored nor created once the grant has ended', async () => {
    const before = await found();
    expect(await storedGrants(store, () => undefined).revoke(MEMBER.grantId, { member: MEMBER.sub }, WHY)).toBe(true);
    expect(await sessions.replace(before, [['sid', 'two']])).toBe(false);
    await sessions.keep(MEMBER.grantId, 'sid=three');
    expect(await sessions.find(MEMBER.grantId)).toBeUndefined();
  });
});

describe('a cookie that the backend sets', () => {
  const replay = () =>
    sessionReplay({
      config: { kind: 'session', cookies: ['sid', 'remember_*'], check: 60, over: { statuses: [401] } },
      upstream: 'school',
      sessions,
      ended: async () => undefined,
      call: () => Promise.reject(new Error('nothing is asked')),
      owner: async () => ({ sub: MEMBER.sub, setCookie: [] }),
      loginPath: '/login',
      origin: 'https://school.example',
      clock: Date.now,
    });
  const attempt = async (credential: Credential) => {
    const made = await credential.attempt(MEMBER, 'GET');
    if (made === 'session_over') throw new Error('the session is not over');
    return made;
  };
  const set = (...values: string[]) => values.flatMap((value) => ['Set-Cookie', value]);

  it('is known to be the member’s for a while, unless the lookup or the credential has changed', async () => {
    const all = carriedOver();
    let asked = 0;
    const credentialFor = (lookup: unknown, check = 60) => {
      const credential = { kind: 'session' as const, cookies: ['sid'], check, over: { statuses: [401] } };
      const made = createCredentials({
        upstreams: { school: upstreamConfig('http://127.0.0.1:1', { credential }) },
        secrets: new Map(),
        asked: lookup,
        loginUrl: '/login',
        call: () => Promise.reject(new Error('nothing is asked')),
        share: all.share(),
        sessions,
        ended: async () => undefined,
        async owner() {
          asked += 1;
          return { sub: MEMBER.sub, setCookie: [] };
        },
        origin: 'https://school.example',
        clock: Date.now,
      })('school');
      if (made === undefined) throw new Error('there is no credential');
      return made;
    };
    for (const [lookup, check, times] of [
      ['/me', 60, 1],
      ['/me', 60, 1],
      ['/whoami', 60, 2],
      ['/whoami', 90, 3],
    ] as const) {
      await attempt(credentialFor(lookup, check));
      expect(asked).toBe(times);
    }
  });

  it('is stored or removed if its name is listed, and ignored otherwise', async () => {
    const { inspect } = await attempt(replay());
    await inspect?.(200, set('sid=two; Path=/', 'theme=light', 'remember_me=; Max-Age=0', '__Host-coursegate_x=1'));
    expect(await cookies()).toEqual({ sid: 'two' });
  });

  it('in response to an old cookie does not replace a newer one', async () => {
    const credential = replay();
    const [first, second] = [await attempt(credential), await attempt(credential)];
    await first.inspect?.(200, set('sid=newer'));
    // The backend did not recognize the old cookie and started an anonymous session: the page is public.
    await second.inspect?.(200, set('sid=of-nobody'));
    expect(await cookies()).toMatchObject({ sid: 'newer' });
  });
});
