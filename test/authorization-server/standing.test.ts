import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStandings, type StandingsOptions } from '../../src/authorization-server/standing.ts';
import { versionDigest } from '../../src/authorization-server/version-digest.ts';
import type { Member } from '../../src/login/connector.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/storage/store.ts';

const HASH = '$2y$10$wV3K1xJc0nPq7mE2dYzRUe0aS9vBh5tLr8GiNk4XfOo6uCjMlTyWq';

let store: Store;
let commits: number;
let ended: unknown[];
beforeEach(async () => {
  const opened = await openStore({ kind: 'memory' }, { secret: undefined, redis: undefined }, Date.now);
  [commits, ended] = [0, []];
  store = {
    ...opened.store,
    commit: (...given) => {
      commits += 1;
      return opened.store.commit(...given);
    },
  };
});
afterEach(() => store.close());

const standings = (recheck?: StandingsOptions['recheck']) =>
  createStandings({
    ...{ store, clock: Date.now, recheck, audit: () => {}, log: { warn: () => {} } },
    grants: {
      revokeAll: async (of) => {
        ended.push(of);
        return 1;
      },
    },
  });
const member = (more: Partial<Member> = {}): Member => ({
  ...{
    sub: 'm-1',
    email: undefined,
    name: 'Sam',
    authTime: 7,
    acr: undefined,
    version: HASH,
    login: 'sam@school.test',
  },
  ...more,
});
const stored = async () => (await store.get('MemberStanding', 'm-1'))?.payload ?? '';

describe('what is stored about a member’s version', () => {
  it('is a keyed digest, and the login only where it is needed', async () => {
    const kept = await standings().signedIn(member());
    expect(kept).toMatchObject({ sub: 'm-1', name: 'Sam', authTime: 7, version: expect.stringMatching(/^hmac:/) });
    expect(kept).not.toHaveProperty('login');
    expect(JSON.parse(await stored())).toEqual({ digest: kept.version, login: 'sam@school.test' });
    const unkeyed = ['hex', 'base64url'].map((encoding) =>
      createHash('sha256')
        .update(HASH)
        .digest(encoding as 'hex'),
    );
    for (const text of [HASH, ...unkeyed]) expect(JSON.stringify(kept) + (await stored())).not.toContain(text);
  });

  it('ends nothing while the version is the same, in whatever form it comes back', async () => {
    const one = standings();
    const kept = await one.signedIn(member());
    const before = commits;
    expect(await one.signedIn(member({ login: undefined }))).toEqual(kept);
    expect(await one.signedIn(kept)).toEqual(kept);
    // Another replica, or the next process.
    expect(await standings().signedIn(member())).toEqual(kept);
    expect([ended, commits]).toEqual([[], before]);
    await one.signedIn(member({ version: 'another' }));
    expect(ended).toEqual([{ member: 'm-1' }]);
  });

  it('costs no commit when a login that is asked each time reports nothing new', async () => {
    const asked: unknown[] = [];
    const one = standings({
      ask: async (...given) => {
        asked.push(given);
        return { kind: 'good', version: HASH };
      },
      interval: 0,
      allowUnavailable: false,
    });
    await one.signedIn(member());
    const before = commits;
    expect(await one.mayContinue('m-1', 'app')).toBe(true);
    expect(await one.mayContinue('m-1', 'app')).toBe(true);
    expect([asked, commits]).toEqual([Array(2).fill(['m-1', 'sam@school.test']), before]);
  });

  it('has one key, even if two replicas need it first', async () => {
    const [one, two] = await Promise.all([versionDigest(store)('v'), versionDigest(store)('v')]);
    expect(one).toBe(two);
    expect(await versionDigest(store)('w')).not.toBe(one);
    const other = await openStore({ kind: 'memory' }, { secret: undefined, redis: undefined }, Date.now);
    expect(await versionDigest(other.store)('v')).not.toBe(one);
    await other.store.close();
  });
});
