import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { folded } from '../../../src/http/visible-text.ts';
import type { ConsoleRequest } from '../../../src/operator/console/console-page.ts';
import { appsPage } from '../../../src/operator/console/directory/apps-page.ts';
import { createDirectory } from '../../../src/operator/console/directory/directory.ts';
import { pageOf, rankOf } from '../../../src/operator/console/directory/find.ts';
import { readRows } from '../../../src/operator/console/directory/read-rows.ts';
import { emptyRows, forgetGrants, searchText } from '../../../src/operator/console/directory/rows.ts';
import { searchPage } from '../../../src/operator/console/directory/search-page.ts';
import { createTimes } from '../../../src/operator/console/kit/times.ts';
import type { ConsoleSources } from '../../../src/operator/console/sources.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import { jsonEntry, type RawStore, type Store } from '../../../src/storage/store.ts';
import { appId, grantId, memberId, seed } from './support/seed.ts';
import { scannedStores } from './support/stores.ts';

const SEED = { grants: 700, members: 150, apps: 8 };
const readAll = async (store: Store, most = 10_000, typed = '', onProgress: (share: number) => void = () => {}) => {
  const rows = { ...emptyRows(), partial: typed !== '' };
  await readRows(store, { rows, typed, most, since: 0 }, onProgress, new AbortController().signal);
  return rows;
};
const ready = async (directory: ReturnType<typeof createDirectory>) => {
  const view = await directory.look();
  if (view.state !== 'ready') throw new Error('still reading');
  return view.rows;
};

describe.each(scannedStores('rows'))('what the console searches, from %s', (_name, make) => {
  let raw: RawStore;
  let store: Store;
  beforeAll(async () => {
    raw = make();
    store = sealedStore(raw, 'k'.repeat(32));
    await seed(store, SEED);
  });
  afterAll(() => raw.close());

  it('has every member, app and grant, with what belongs together', async () => {
    const shares: number[] = [];
    const rows = await readAll(store, 10_000, '', (share) => shares.push(share));
    expect([rows.members.size, rows.apps.size, rows.grants.size, rows.partial]).toEqual([150, 8, 700, false]);
    const grant = rows.grants.get(grantId(3));
    expect(grant).toMatchObject({ member: { id: memberId(3) }, app: { id: appId(3), kind: 'document' } });
    expect(grant?.lastUsedAt).toBeGreaterThan(0);
    expect(rows.grants.get(grantId(4))?.lastUsedAt).toBeUndefined();
    expect([...rows.apps.values()].reduce((sum, { grants }) => sum + grants, 0)).toBe(700);
    expect(shares.at(-1)).toBe(1);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  });

  it('is done when all is read, whatever the store says of how much there is', async () => {
    const shares: number[] = [];
    const modest: Store = { ...store, scan: async (...asked) => ({ ...(await store.scan(...asked)), total: 1 }) };
    await readAll(modest, 10_000, '', (share) => shares.push(share));
    expect(shares.filter((share) => share === 1)).toHaveLength(1);
    expect(shares.at(-1)).toBe(1);
  });

  it('leaves some members and all grants out when they are too many, and says so', async () => {
    const { members, apps, grants, more, partial } = await readAll(store, 100);
    expect([apps.size, grants.size, more, partial]).toEqual([8, 0, true, true]);
    expect(members.size).toBeLessThan(150);
    const others = await readAll(store, 400);
    expect([others.members.size, others.grants.size, others.more, others.partial]).toEqual([150, 0, false, true]);
  });

  it('searches all of it for a part of a text', async () => {
    const { members, apps, more } = await readAll(store, 40, 'smith 10');
    expect([[...members.keys()].toSorted(), apps.size, more]).toEqual([
      ['m-100', 'm-101', 'm-102', 'm-103', 'm-104', 'm-105', 'm-106', 'm-107', 'm-108', 'm-109'],
      0,
      false,
    ]);
    expect((await readAll(store, 40, 'person')).more).toBe(true);
  });

  it('knows who is suspended, and which app is blocked', async () => {
    const put = (kind: string, id: string) =>
      store.commit([{ op: 'put', entry: jsonEntry(kind, id, { id, since: 1 }, undefined) }]);
    await put('Suspension', memberId(1));
    await put('ClientBlock', appId(1));
    const { members, apps } = await readAll(store);
    expect([...members.values()].filter(({ state }) => state === 'suspended').map(({ id }) => id)).toEqual(['m-1']);
    expect([...apps.values()].filter(({ state }) => state === 'disabled').map(({ id }) => id)).toEqual([appId(1)]);
  });
});

describe('the directory', () => {
  const opened = async () => {
    const store = sealedStore(memoryStore(Date.now), 'k'.repeat(32));
    await seed(store, { grants: 300, members: 20, apps: 4 });
    return store;
  };

  it('knows an app and its member that came while it was read', async () => {
    const store = await opened();
    const reading: Store = {
      ...store,
      async scan(kinds, from, limit) {
        // The four apps, and then no grant yet.
        const scanned = await store.scan(kinds, from, from === undefined ? 4 : limit);
        if (from === undefined) {
          const put = (kind: string, id: string, value: object) =>
            store.commit([{ op: 'put', entry: jsonEntry(kind, id, value, undefined) }]);
          await put('Client', 'new', { client_id: 'new', client_name: 'Newcomer', redirect_uris: [] });
          await put('Member', 'm-new', { sub: 'm-new', name: 'New Member' });
          await put('Grant', 'g-new', { jti: 'g-new', accountId: 'm-new', clientId: 'new', iat: 1000, resources: {} });
        }
        return scanned;
      },
    };
    const rows = await ready(createDirectory(reading, () => 1_000_000, { patience: 5000 }));
    expect(rows.grants.get('g-new')).toMatchObject({
      member: { name: 'New Member' },
      app: { name: 'Newcomer', kind: 'registered' },
    });
  });

  it('keeps what an action has changed while it is read', async () => {
    const store = await opened();
    const directory = createDirectory(store, Date.now, { patience: 0 });
    expect(await directory.look()).toMatchObject({ state: 'reading' });
    directory.correct((rows) => forgetGrants(rows, ({ member }) => member.id === memberId(1)));
    await vi.waitUntil(async () => (await directory.look()).state === 'ready', { timeout: 30_000 });
    const rows = await ready(directory);
    expect([rows.grants.size, rows.members.get(memberId(1))?.grants]).toEqual([285, 0]);
    directory.close();
  });

  it('is read again after a minute, and older rows are shown meanwhile', async () => {
    const store = await opened();
    let now = 0;
    const directory = createDirectory(store, () => now, { patience: 5000 });
    expect((await ready(directory)).grants.size).toBe(300);
    await store.commit([{ op: 'delete', kind: 'Grant', id: grantId(0) }]);
    now = 59_000;
    expect((await ready(directory)).grants.size).toBe(300);
    now = 61_000;
    expect((await ready(directory)).grants.size).toBe(300);
    await vi.waitUntil(async () => (await ready(directory)).grants.size === 299, { timeout: 30_000 });
    directory.close();
  });

  it('is released when nobody looks any more', async () => {
    const store = await opened();
    let scans = 0;
    const counting = {
      ...store,
      scan: (...given: Parameters<Store['scan']>) => {
        scans += 1;
        return store.scan(...given);
      },
    };
    const directory = createDirectory(counting, () => 0, { patience: 5000, idle: 20 });
    await directory.look();
    const read = scans;
    await directory.look();
    expect(scans).toBe(read);
    await vi.waitUntil(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 25));
        await directory.look();
        return scans > read;
      },
      { timeout: 30_000 },
    );
    directory.close();
  });

  it('says that the store is unavailable, and recovers', async () => {
    const store = await opened();
    let down = true;
    const failing = {
      ...store,
      scan: (...given: Parameters<Store['scan']>) => (down ? Promise.reject(new Error('down')) : store.scan(...given)),
    };
    const directory = createDirectory(failing, () => 0, { patience: 5000 });
    await expect(directory.look()).rejects.toThrow('down');
    down = false;
    expect((await ready(directory)).grants.size).toBe(300);
    directory.close();
  });
});

it('the lists and the search are shown while the store is down', async () => {
  const store = sealedStore(memoryStore(Date.now), 'k'.repeat(32));
  await seed(store, { grants: 20, members: 10, apps: 4 });
  const directory = createDirectory(store, Date.now, { patience: 5000 });
  await directory.look();
  const down = () => Promise.reject(new GatewayError('store_unavailable'));
  const deps = {
    ...{ directory, clock: Date.now, times: createTimes('UTC', Date.now), scopes: {}, takesNewApps: true },
    ...{
      store: { ...store, get: down },
      grants: { find: down, count: down },
      account: { registrationClosedSince: down },
    },
  } as unknown as ConsoleSources;
  const request = { query: { q: 'claude' }, params: {}, form: {}, csrf: '' } as unknown as ConsoleRequest;
  for (const page of [searchPage, appsPage]) {
    const shown = await page(deps, request);
    expect('body' in shown && shown.body.text).toContain('Claude 3');
  }
  directory.close();
});

describe('pages of a list', () => {
  const rows = Array.from({ length: 25 }, (_, at) => ({ id: `r${at}`, key: (at * 7) % 5 }));
  const order = { key: ({ key }: { key: number }) => key, descending: true };
  const page = (all: typeof rows, cursor?: string) => pageOf(all, { keep: () => true, order, cursor, limit: 7 });

  it('have every row once, in the same order backwards', async () => {
    const first = await page(rows);
    const second = await page(rows.toReversed(), first.next);
    const third = await page(rows, second.next);
    const last = await page(rows.toReversed(), third.next);
    const ids = [first, second, third, last].flatMap((found) => found.rows.map(({ id }) => id));
    expect([ids.length, new Set(ids).size, last.next, first.previous]).toEqual([25, 25, undefined, undefined]);
    const back = await page(rows, last.previous);
    expect(back.rows).toEqual(third.rows);
    const start = await page(rows, (await page(rows, back.previous)).previous);
    expect([start.rows, start.previous]).toEqual([first.rows, undefined]);
  });

  it.each([false, true])(
    'are the first of very many rows, in whatever order they come, descending: %s',
    async (descending) => {
      const many = Array.from({ length: 2000 }, (_, at) => ({ id: `r${String(at).padStart(4, '0')}` }));
      const options = {
        keep: ({ id }: { id: string }) => id !== 'r0003',
        order: { key: () => 0, descending },
        limit: 7,
      };
      const ids = (from: number, to: number) => {
        const kept = many.map(({ id }) => id).filter((id) => id !== 'r0003');
        return (descending ? kept.toReversed() : kept).slice(from, to);
      };
      for (const all of [many, many.toReversed()]) {
        const first = await pageOf(all, { ...options, cursor: undefined });
        expect([first.rows.map(({ id }) => id), first.total]).toEqual([ids(0, 7), 1999]);
        const second = await pageOf(all, { ...options, cursor: first.next });
        expect(second.rows.map(({ id }) => id)).toEqual(ids(7, 14));
        expect((await pageOf(all, { ...options, cursor: second.previous })).rows).toEqual(first.rows);
      }
    },
  );

  it('go on behind a row that is gone', async () => {
    const first = await page(rows);
    const rest = rows.filter(({ id }) => id !== first.rows.at(-1)?.id);
    expect((await page(rest, first.next)).rows).toEqual((await page(rows, first.next)).rows);
  });
});

it.each([
  ['ann smith', 0],
  ['ann', 1],
  ['smith', 2],
  ['mith', 3],
  ['ann@', 1],
  ['zoe', undefined],
])('ranks %j as %s', (typed, rank) => {
  expect(rankOf(searchText(['Ánn Smith', 'ann@mail.example', 'm-1']), folded(typed))).toBe(rank);
});
