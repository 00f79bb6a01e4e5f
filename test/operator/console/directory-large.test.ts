import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { storedSuspensions } from '../../../src/authorization-server/administration/suspensions.ts';
import { createUsage } from '../../../src/authorization-server/connected-apps/usage.ts';
import { storedGrants } from '../../../src/authorization-server/grants.ts';
import { contextOf } from '../../../src/operator/console/actions/action-context.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../../../src/operator/console/console-page.ts';
import { appPage } from '../../../src/operator/console/directory/app-page.ts';
import { appsPage } from '../../../src/operator/console/directory/apps-page.ts';
import { createDirectory, type Directory } from '../../../src/operator/console/directory/directory.ts';
import { grantsPage } from '../../../src/operator/console/directory/grants-page.ts';
import { membersPage } from '../../../src/operator/console/directory/members-page.ts';
import { searchPage } from '../../../src/operator/console/directory/search-page.ts';
import { createTimes } from '../../../src/operator/console/kit/times.ts';
import type { ConsoleSources } from '../../../src/operator/console/sources.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import { jsonEntry, type RawStore, type Store } from '../../../src/storage/store.ts';
import { timeOf } from '../../support/pace.ts';
import { appId, grantId, memberId, nameOf, seed } from './support/seed.ts';
import { scannedStores } from './support/stores.ts';

/** Grant `n` is of member `n mod 450`, and of app `n mod 400` in the first round. */
const SEED = { grants: 900, members: 450, apps: 400 };
/** The rows that are held: about a tenth of the store. */
const MOST = 150;
/** A registered app with three grants, of which the first was used. */
const APP = appId(0);

const plain = (answer: ConsoleAnswer) =>
  'body' in answer ? answer.body.text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') : '';
const htmlOf = (answer: ConsoleAnswer) => ('body' in answer ? answer.body.text : '');
const names = (answer: ConsoleAnswer) =>
  [...htmlOf(answer).matchAll(/class="name" href="[^"]*"><bdi>([^<]*)</g)].map((match) => match[1]);
const asked = (query: Record<string, string>, id = '') =>
  ({ query, params: { id }, form: {}, csrf: '' }) as unknown as ConsoleRequest;

describe.each(scannedStores('large'))('the console on a store with more than it holds in memory, %s', (_name, make) => {
  let raw: RawStore;
  let store: Store;
  let directory: Directory;
  let sources: ConsoleSources;
  beforeAll(async () => {
    raw = make();
    store = sealedStore(raw, 'k'.repeat(32));
    await seed(store, SEED);
    const suspended = Array.from({ length: 225 }, (_, at) =>
      storedSuspensions(store, Date.now).begin(memberId(2 * at)),
    );
    const blocks = storedSuspensions(store, Date.now, 'ClientBlock');
    await Promise.all([...suspended, ...Array.from({ length: 200 }, (_, at) => blocks.begin(appId(2 * at)))]);
    directory = createDirectory(store, Date.now, { most: MOST, patience: 5000 });
    sources = {
      ...{
        directory,
        store,
        clock: Date.now,
        times: createTimes('UTC', Date.now),
        takesNewApps: false,
        school: 'School',
      },
      ...{ scopes: { 'courses:write': { title: 'Write courses', kind: 'write' } }, tools: new Map() },
      ...{ grants: storedGrants(store, () => {}), usage: createUsage(store, Date.now) },
      ...{ trail: { of: async () => [] }, recorder: { list: async () => [] } },
      controls: { account: { describeClient: async () => ({ state: 'active' }) } },
    } as unknown as ConsoleSources;
  });
  afterEach(() => directory.close());
  afterAll(() => raw.close());

  it('shows each member and app of a list as the store has it', async () => {
    const members = await membersPage(sources, asked({}));
    expect(names(members)).toHaveLength(50);
    for (const [row, name = '', at] of htmlOf(members).matchAll(
      /<tr><th scope="row">.*?<bdi>(\D+ (\d+))<.*?<\/tr>/gs,
    )) {
      expect([name, row.includes('suspended')]).toEqual([nameOf(Number(at)), Number(at) % 2 === 0]);
      expect(row).toContain('data-label="Grants">2<');
    }
    const apps = await appsPage(sources, asked({}));
    expect(names(apps).length).toBeGreaterThan(5);
    for (const [row, at] of htmlOf(apps).matchAll(/<tr><th scope="row">.*?<bdi>\D+ (\d+)<.*?<\/tr>/gs))
      expect([at, row.includes('>disabled<')]).toEqual([at, Number(at) % 2 === 0]);
    expect(htmlOf(apps)).not.toContain('no longer registered');
    expect(plain(apps)).toContain('There are too many grants to filter apps by their use.');
  });

  it('says how much of the store the lists are', async () => {
    expect(plain(await membersPage(sources, asked({})))).toMatch(
      /The store has more than is listed here: these are \d+ members and \d+ apps of it\./,
    );
    expect(plain(await grantsPage(sources, asked({ q: 'ann' })))).toContain('There are too many grants to list.');
  });

  it('searches all of it for a part of a name', async () => {
    for (const at of [0, 100, 449]) {
      const found = await searchPage(sources, asked({ q: nameOf(at) }));
      expect(names(found)[0]).toBe(nameOf(at));
      expect(plain(found)).toContain('All of the store was searched just now');
      expect(plain(found).includes('suspended')).toBe(at % 2 === 0);
    }
    expect(names(await membersPage(sources, asked({ q: 'person7@', state: '' })))).toEqual([nameOf(7)]);
    expect(names(await membersPage(sources, asked({ q: 'person7@', state: 'suspended' })))).toEqual([]);
    expect(names(await appsPage(sources, asked({ q: 'app398.ex' })))).toEqual(['Claude 398']);
  });

  it('shows what a search has found so far', async () => {
    let pause = 0;
    const slow = {
      ...store,
      async scan(...given: Parameters<Store['scan']>) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        return store.scan(...given);
      },
    };
    const impatient = { ...sources, directory: createDirectory(slow, Date.now, { most: MOST, patience: 1 }) };
    await vi.waitUntil(async () => (await impatient.directory.look()).state === 'ready', { timeout: 30_000 });
    pause = 20;
    const search = async () => plain(await searchPage(impatient, asked({ q: nameOf(449) })));
    expect(await search()).toMatch(/No results match so far\. \d+% of the store has been searched\. Reload this page/);
    await vi.waitUntil(async () => (await search()).includes('All of the store was searched'), 30_000);
    expect(await search()).toContain('1 result ');
    impatient.directory.close();
  });

  it('waits once for a store that it reads', async () => {
    const patience = 2000;
    const silent = { ...store, scan: () => new Promise<never>(() => {}) };
    const reading = createDirectory(silent, Date.now, { most: MOST, patience });
    const search = async () => {
      const shown = plain(await searchPage({ ...sources, directory: reading }, asked({ q: nameOf(0) })));
      expect(shown).toContain('Reading the store: 0% done.');
    };
    expect(await timeOf(search)).toBeLessThan(1.8 * patience);
    reading.close();
  });

  it('finds exact IDs by key, without a search', async () => {
    await directory.look();
    const find = vi.spyOn(directory, 'find');
    for (const [id, name] of [
      [memberId(449), nameOf(449)],
      [appId(399), 'Reading List 399'],
      [grantId(898), `m-448 – ${appId(899 % 400)}`],
    ] as const)
      expect(names(await searchPage(sources, asked({ q: id })))).toEqual([name]);
    expect(find).not.toHaveBeenCalled();
    find.mockRestore();
  });

  it('reads the grants of one app or member from the store', async () => {
    const ofMember = await grantsPage(sources, asked({ member: 'm-3' }));
    expect(names(ofMember)).toHaveLength(2);
    expect(plain(ofMember)).toContain('2 grants');
    const ofApp = await appPage(sources, asked({}, APP));
    expect(plain(ofApp)).toMatch(/Members 3 Grants 3/);
    expect(await contextOf(sources, '/apps/{id}/disable', { id: APP })).toEqual({ name: 'Quiz Helper 0', grants: 3 });
  });

  it('says that an app has more grants than are read', async () => {
    const put = (at: number) => ({
      op: 'put' as const,
      entry: jsonEntry(
        'Grant',
        `of-big-${at}`,
        {
          ...{ jti: `of-big-${at}`, accountId: memberId(at), clientId: 'big', iat: 1_700_000_000 },
          openid: { scope: 'courses:write' },
        },
        undefined,
        { member: memberId(at), client: 'big' },
      ),
    });
    await store.commit(Array.from({ length: 230 }, (_, at) => put(at)));
    const shown = plain(await appPage(sources, asked({}, 'big')));
    expect(shown).toContain('Below is what 200 grants of 230 allow and were used for.');
    expect(shown).toContain('Grants 230');
    expect(shown).not.toMatch(/Members \d+ Grants/);
    expect(plain(await grantsPage(sources, asked({ app: 'big' })))).toContain(
      'These are from the first 200 grants. There are more.',
    );
  });
});
