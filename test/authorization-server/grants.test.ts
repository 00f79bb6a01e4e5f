import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type GrantsOf, storedGrants } from '../../src/authorization-server/grants.ts';
import { UnitOfWork } from '../../src/authorization-server/unit-of-work.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { openStore } from '../../src/storage/open.ts';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { Mutation, Store } from '../../src/storage/store.ts';
import { introspect, registerApp } from '../support/app.ts';
import { connect, refreshForm, token } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld } from '../support/world.ts';

const WHY = { by: 'operator', reason: 'grant_revoked' } as const;

const SECRET = 'x'.repeat(32);
const NOW = Date.UTC(2026, 0, 1);
const TOTAL = 180;
const HANGING_ON = [
  'AccessToken',
  'RefreshToken',
  'AuthorizationCode',
  'CodeUse',
  'GrantUse',
  'GrantLastUse',
  'UnredeemedGrant',
  'Approval',
];

/** Entries as oidc-provider writes them. */
function granting(id: string, member: string, client: string): readonly Mutation[] {
  const payload = JSON.stringify({
    iat: NOW / 1000,
    exp: NOW / 1000 + 900,
    accountId: member,
    clientId: client,
    kind: 'Grant',
    jti: id,
    openid: { scope: 'openid courses:read' },
    resources: { 'https://school.example': 'openid courses:read' },
  });
  const expiresAt = NOW / 1000 + 900;
  return [
    { op: 'put', entry: { kind: 'Grant', id, payload, expiresAt, references: { member, client } } },
    ...HANGING_ON.map(
      (kind): Mutation => ({
        op: 'put',
        entry: { kind, id: `${kind}-${id}`, payload: '{}', expiresAt, references: { grant: id, member, client } },
      }),
    ),
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'coursegate-grants-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
let redis: RedisServer | undefined;
let admin: Redis | undefined;
const present = redisPresent();
beforeAll(async () => {
  if (!present) return;
  redis = await startRedis();
  admin = new Redis(redis.url);
});
afterAll(async () => {
  admin?.disconnect();
  await redis?.close();
});

const clock = () => NOW;
const STORES: [string, () => Store][] = [
  ['memory', () => memoryStore(clock)],
  ['sqlite', () => sqliteStore(join(folder, `${++made}`, 'coursegate.db'), clock)],
  ...(present
    ? [['redis', () => redisStore({ url: redis?.url ?? '', keyPrefix: `g${++made}` }, clock)] as [string, () => Store]]
    : []),
];

describe.each(STORES)('grants in %s', (_name, open) => {
  let store: Store;
  beforeEach(async () => {
    store = sealedStore(open(), SECRET);
    for (let at = 0; at < TOTAL; at += 15) {
      const ids = Array.from({ length: 15 }, (_, more) => at + more);
      await store.commit(ids.flatMap((one) => granting(`g-${one}`, `m-${one % 3}`, `c-${one % 5}`)));
    }
  });
  afterEach(() => store.close());

  const counted = () => {
    const revoked = { times: 0 };
    const count = () => {
      revoked.times += 1;
    };
    return { revoked, grants: storedGrants(store, count) };
  };

  it('are listed by member and by client, with their scopes and resources', async () => {
    const { grants } = counted();
    const ids = async (of: GrantsOf) => (await grants.list(of, 100)).map(({ id }) => id).toSorted();
    const every = (step: number, from: number) =>
      Array.from({ length: TOTAL / step }, (_, at) => `g-${at * step + from}`).toSorted();
    expect(await ids({ member: 'm-1' })).toEqual(every(3, 1));
    expect(await ids({ client: 'c-4' })).toEqual(every(5, 4));
    expect(await grants.list({ member: 'nobody' }, 100)).toEqual([]);
    expect(await grants.list({ member: 'm-1' }, 7)).toHaveLength(7);
    expect((await grants.list({ member: 'm-2' }, 100)).find(({ id }) => id === 'g-2')).toEqual({
      id: 'g-2',
      member: 'm-2',
      clientId: 'c-2',
      scopes: ['openid', 'courses:read'],
      resources: ['https://school.example'],
      grantedAt: NOW / 1000,
      expiresAt: NOW / 1000 + 900,
    });
  });

  it('end one at a time, with everything that belongs to them, and only for their owner', async () => {
    const { grants, revoked } = counted();
    for (const of of [{ member: 'm-1' }, { client: 'c-1' }]) expect(await grants.revoke('g-0', of, WHY)).toBe(false);
    expect(await grants.revoke('none', { member: 'm-0' }, WHY)).toBe(false);
    expect(revoked.times).toBe(0);
    expect(await grants.revoke('g-0', { member: 'm-0' }, WHY)).toBe(true);
    expect(revoked.times).toBe(1);
    expect(await grants.revoke('g-0', { member: 'm-0' }, WHY)).toBe(false);
    for (const kind of HANGING_ON) {
      expect(await store.get(kind, `${kind}-g-0`), kind).toBeUndefined();
      expect(await store.get(kind, `${kind}-g-3`), kind).toBeDefined();
    }
  });

  it('end once and are reported once, even if several callers revoke them at once', async () => {
    const { grants } = counted();
    const ended = await Promise.all(Array.from({ length: 5 }, () => grants.revoke('g-0', { member: 'm-0' }, WHY)));
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await grants.isActive('g-0')).toBe(false);
  });

  it.each([
    ['member', { member: 'm-1' }, 60, 'g-1', 'g-2'],
    ['client', { client: 'c-2' }, 36, 'g-2', 'g-1'],
  ] as const)('of a %s all end, in bounded commits, and no others', async (_what, of, count, ended, kept) => {
    const { grants, revoked } = counted();
    const sizes: number[] = [];
    const { commit } = store;
    store.commit = (mutations) => {
      sizes.push(mutations.filter((one) => one.op === 'delete').length);
      return commit(mutations);
    };
    expect(await grants.revokeAll(of, WHY)).toBe(count);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
    expect(revoked.times).toBe(sizes.length);
    expect(await grants.list(of, 100)).toEqual([]);
    expect(await store.get('Grant', kept)).toBeDefined();
    for (const kind of HANGING_ON) {
      expect(await store.get(kind, `${kind}-${ended}`), kind).toBeUndefined();
      expect(await store.get(kind, `${kind}-${kept}`), kind).toBeDefined();
    }
    expect(await grants.revokeAll(of, WHY)).toBe(0);
  });
});

describe.each(STORES)('a token request in progress in %s', (_name, open) => {
  it.each(['AuthorizationCode', 'RefreshToken'])(
    'writes nothing when the grant of its %s ends before it commits',
    async (kind) => {
      const store = sealedStore(open(), SECRET);
      try {
        await store.commit(granting('g', 'sam', 'app'));
        const unit = new UnitOfWork(store);
        // The order in which oidc-provider works: read and validate everything, then consume, then write.
        expect(await unit.get(kind, `${kind}-g`)).toBeDefined();
        expect(await unit.get('Grant', 'g')).toBeDefined();
        unit.consume(kind, `${kind}-g`);
        const references = { grant: 'g', member: 'sam', client: 'app' };
        for (const written of ['AccessToken', 'RefreshToken']) {
          unit.put({ kind: written, id: `new-${written}`, payload: '{}', expiresAt: undefined, references });
        }
        const told: string[] = [];
        const all = { member: 'sam' };
        expect(await storedGrants(store, () => {}).revokeAll(all, WHY, ({ id }) => told.push(id))).toBe(1);
        expect(told).toEqual(['g']);
        expect(await unit.commit()).toBe(false);
        for (const written of ['AccessToken', 'RefreshToken']) {
          expect(await store.get(written, `new-${written}`)).toBeUndefined();
        }
      } finally {
        await store.close();
      }
    },
  );
});

describe.skipIf(!present)('grants in Redis', () => {
  it('take the same number of commands to list and revoke, however many others there are', async () => {
    const store = sealedStore(redisStore({ url: redis?.url ?? '', keyPrefix: 'counted' }, clock), SECRET);
    const grants = storedGrants(store, () => {});
    const commands = async (work: () => Promise<unknown>) => {
      await admin?.config('RESETSTAT');
      await work();
      const told = String(await admin?.info('commandstats'));
      return [...told.matchAll(/cmdstat_(?!info|config)[^:]+:calls=(\d+)/g)].reduce(
        (sum, [, calls]) => sum + Number(calls),
        0,
      );
    };
    const others = async (from: number, to: number) => {
      for (let at = from; at < to; at += 1) await store.commit(granting(`g-${at}`, `m-${at}`, `c-${at}`));
    };
    const spent = async () => {
      for (const id of ['a', 'b', 'c']) await store.commit(granting(id, 'sam', 'app'));
      return {
        listed: await commands(() => grants.list({ member: 'sam' }, 100)),
        byClient: await commands(() => grants.list({ client: 'app' }, 100)),
        ended: await commands(() => grants.revokeAll({ member: 'sam' }, WHY)),
      };
    };
    await others(0, 20);
    const few = await spent();
    await others(20, 2000);
    expect(await spent()).toEqual(few);
    expect(few.listed).toBeLessThan(10);
    await store.close();
  });
});

describe('grants created by a gate', () => {
  it('are found by member and by client, and end with tokens that worked', async () => {
    const world = await startWorld({ profile: 'A' });
    try {
      const app = await registerApp(world.origin);
      const [first, second] = [await connect(app), await connect(app)];
      const other = await connect(app, { member: OLU });
      const grants = async <T>(work: (of: ReturnType<typeof storedGrants>) => Promise<T>): Promise<T> => {
        const config = { kind: 'sqlite', path: join(world.data, 'coursegate.db') } as const;
        return world.whileStopped(async () => {
          const { store } = await openStore(config, { secret: undefined, redis: undefined }, Date.now);
          try {
            return await work(storedGrants(store, () => {}));
          } finally {
            await store.close();
          }
        });
      };
      const ended = await grants(async (of) => {
        const ofApp = await of.list({ client: app.client.client_id }, 10);
        expect(ofApp).toHaveLength(3);
        const member = ofApp.map((one) => one.member).find((one, at, all) => all.indexOf(one) !== at) ?? '';
        const [one] = await of.list({ member }, 10);
        expect(one).toMatchObject({
          clientId: app.client.client_id,
          resources: [world.origin],
          scopes: ['openid', 'profile', 'email', 'account:read', 'courses:read'],
        });
        return of.revokeAll({ member }, WHY);
      });
      expect(ended).toBe(2);
      for (const tokens of [first, second]) {
        expect((await introspect(app, tokens.access_token)).active).toBe(false);
        expect((await token(app, refreshForm(app, tokens.refresh_token))).body.error).toBe('invalid_grant');
      }
      expect((await introspect(app, other.access_token)).active).toBe(true);
    } finally {
      await world.close();
    }
  });
});
