import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { jsonEntry } from '../../../src/storage/store.ts';
import { registerApp } from '../../support/app.ts';
import { command } from '../../support/commands.ts';
import { connect, refreshForm, token } from '../../support/connection.ts';
import type { World } from '../../support/world.ts';
import { type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';
import { appId, grantId, memberId, seed, withStore } from './support/seed.ts';

/** 130 members, 7 apps and 260 grants: member `n` has grants `n` and `n + 130`, of apps `n mod 7` and `(n + 5) mod 7`. */
const SEED = { grants: 260, members: 130, apps: 7 };
/** The app whose client ID is a URL. */
const DOCUMENT = appId(3);

let world: World;
let audited: Record<string, unknown>[] = [];
let operator: ConsoleSession;
beforeAll(async () => {
  const log = { level: 'info', debug() {}, info: record, warn: record, error() {}, child: () => log };
  function record(line: Record<string, unknown>, message?: string) {
    if (message === 'audit') audited.push(line);
  }
  world = await startConsoleWorld({ log: log as never });
  await world.whileStopped(() => withStore(world.data, (store) => seed(store, SEED)));
  operator = await opened();
});
afterAll(() => world.close());

/** A session, once everything can be searched. */
async function opened(): Promise<ConsoleSession> {
  const session = await openConsole(world);
  await vi.waitUntil(async () => !(await session.get('/console/members')).text.includes('Reading the store'), 10_000);
  return session;
}

/** The names of the rows of a list, in order. */
const namesIn = (text: string) =>
  [...text.matchAll(/class="name" href="[^"]*"><bdi>([^<]*)</g)].map((match) => match[1]);
const names = async (path: string) => namesIn((await operator.get(path)).text);
const linkOf = (text: string, rel: string) =>
  new RegExp(`<a href="([^"]+)" rel="${rel}"`).exec(text)?.[1]?.replaceAll('&amp;', '&');
const plain = (text: string) => text.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const path = (...parts: string[]) => `/console/${parts.map(encodeURIComponent).join('/')}`;
/** Acts, and returns the page that the browser is sent to. */
const act = async (to: string, form: Record<string, string> = {}) => {
  audited = [];
  const { status, location = '' } = await operator.post(to, form);
  expect(status).toBe(303);
  return { location, text: plain((await operator.get(location)).text) };
};
const actions = () => audited.map((line) => line['event.action']);

describe('the search', () => {
  it('finds members and apps by any part, without accents and case, the best first', async () => {
    expect(await names('/console/search?q=JON%20sato%2059')).toEqual(['Jón Sato 59']);
    expect(await names('/console/search?q=person12%40')).toEqual(['Chloë Okafor 12']);
    expect(await names('/console/search?q=app3.example')).toEqual(['Claude 3']);
    const mixed = await names('/console/search?q=cal');
    expect(mixed.slice(0, 2).toSorted()).toEqual(['Calendar Sync 1', 'Calendar Sync 6']);
    expect((await names('/console/search?q=m-1'))[0]).toBe('Ben Smith 1');
    expect(plain((await operator.get('/console/search?q=zzz')).text)).toContain('No results match.');
  });

  it('lists a member or app once, also if the ID is typed in full', async () => {
    const found = [
      ...(await names(`/console/search?q=${memberId(12)}`)),
      ...(await names(`/console/search?q=${encodeURIComponent(DOCUMENT)}`)),
    ];
    expect(found.filter((name) => name === 'Chloë Okafor 12' || name === 'Claude 3')).toHaveLength(2);
  });

  it('finds a grant by its ID', async () => {
    expect(await names(`/console/search?q=${grantId(3)}`)).toEqual(['m-3 – https://app3.example/client.json']);
  });
});

describe('the lists', () => {
  it('have pages in a stable order, in both directions', async () => {
    const first = await operator.get('/console/members');
    const second = await operator.get(String(linkOf(first.text, 'next')));
    const third = await operator.get(String(linkOf(second.text, 'next')));
    const all = [first, second, third].flatMap(({ text }) => namesIn(text));
    expect(all).toHaveLength(130);
    expect(new Set(all).size).toBe(130);
    expect(all.slice(0, 2)).toEqual(['Ann García 40', 'Ann Haddad 70']);
    expect(linkOf(third.text, 'next')).toBeUndefined();
    expect(linkOf(first.text, 'prev')).toBeUndefined();
    expect(namesIn((await operator.get(String(linkOf(third.text, 'prev')))).text)).toEqual(namesIn(second.text));
    expect((await operator.get('/console/members?place=x')).status).toBe(400);
  });

  it('show grants by app, member, and whether they can make changes or are unused', async () => {
    const totalOf = async (query: string) =>
      Number(/role="status">([\d,]+) grant/.exec((await operator.get(`/console/grants?${query}`)).text)?.[1] ?? 0);
    expect(await totalOf('')).toBe(260);
    expect(await totalOf(`app=${encodeURIComponent(DOCUMENT)}`)).toBe(37);
    expect(await totalOf('member=m-1')).toBe(2);
    expect(await totalOf(`app=${encodeURIComponent(DOCUMENT)}&member=m-3`)).toBe(1);
    // Apps 1, 3 and 5.
    expect(await totalOf('power=change')).toBe(112);
    expect(await totalOf('power=read')).toBe(148);
    expect(await totalOf('unused=30')).toBe(0);
    // Two of three grants were never used.
    expect(await totalOf('unused=never')).toBe(173);
    expect((await operator.get('/console/grants?unused=yes')).status).toBe(400);
    expect(await totalOf('q=quiz')).toBe(await totalOf('q=QUIZ'));
    expect((await names('/console/grants'))[0]).toBe('Ann Smith 0 – Quiz Helper 0');
    expect((await names('/console/grants?sort=-used'))[0]).toBe('Ann Smith 0 – Quiz Helper 0');
  });

  it('filter apps by kind', async () => {
    expect(await names('/console/apps?kind=document')).toEqual(['Claude 3']);
    expect(await names('/console/apps?kind=registered&q=quiz')).toEqual(['Quiz Helper 0', 'Quiz Helper 5']);
  });
});

describe('the details', () => {
  it('of a grant say in words what it allows', async () => {
    const text = plain((await operator.get(path('grants', grantId(3)))).text);
    expect(text).toContain('Dae Smith 3 – Claude 3');
    expect(text).toMatch(/Can change .*Create and change the school.*courses courses:write Can see/);
    expect(text).toContain('Resources http://localhost');
    expect(text).toMatch(/Granted \d+ \w+ 20\d\d, \d\d:\d\d \w+ \((just now|\d+ (minute|hour)s? ago)\)/);
    expect(text).toMatch(/Last used \d+ \w+ 20\d\d, \d\d:\d\d \w+ \((just now|\d+ (minute|hour)s? ago)\)/);
    expect(text).toMatch(/Expires (never|\d+ \w+ 20\d\d, \d\d:\d\d \w+ \(in)/);
  });

  it('of an app with a metadata document name its proof, and of a registered one that there is none', async () => {
    const text = plain((await operator.get(path('apps', DOCUMENT))).text);
    expect(text).toContain('Client ID https://app3.example/client.json Verified domain app3.example');
    expect(text).toContain('Redirect URIs https://app3.example/callback');
    expect(text).toMatch(/Members 37 Grants 37/);
    expect(plain((await operator.get(path('apps', 'app-1'))).text)).toContain('Verified no: any app can register');
  });

  it('of a member list the apps', async () => {
    const shown = await operator.get(path('members', memberId(1)));
    expect(namesIn(shown.text)).toEqual(['Calendar Sync 1', 'Calendar Sync 6']);
    expect(plain(shown.text)).toContain('Email person1@mail.example State active');
    expect(plain(shown.text)).toMatch(/Calendar Sync 1 can change (just now|\d+ (minute|hour)s? ago)/);
  });

  it('escape what apps and members say of themselves', async () => {
    const { client } = await registerApp(world.origin, { metadata: { client_name: '<b>Bold' } });
    for (const to of [
      path('apps', client.client_id),
      '/console/search?q=%3Cb%3EBold',
      '/console/members/%3Cb%3EBold',
    ]) {
      const { text } = await operator.get(to);
      expect(text).toContain('&lt;b&gt;Bold');
      expect(text).not.toContain('<b>');
    }
  });
});

describe('the actions', () => {
  it('disconnect one app of one member, with the reason in the audit', async () => {
    const from = path('members', 'm-3', 'apps', DOCUMENT);
    const asked = await operator.get(from);
    expect(plain(asked.text)).toContain('Disconnect Claude 3 from Dae Smith 3?');
    const { location, text } = await act(from, { reason: 'reported by the member' });
    expect(location).toBe('/console/members/m-3');
    expect(text).toContain('Claude 3 is disconnected.');
    expect(audited).toMatchObject([
      {
        'event.action': 'grant_ended',
        'event.reason': 'reported by the member',
        'coursegate.by': 'operator',
        'oauth.grant_id': grantId(3),
        'user.id': 'm-3',
        'http.request.id': expect.any(String),
      },
    ]);
    // The list is corrected at once, and what happened is on the page of the member.
    expect(namesIn((await operator.get('/console/grants?member=m-3')).text)).toHaveLength(1);
    expect(text).toMatch(
      /Connection ended by command app https:\/\/app3.example\/client.json grant by the operator reason: reported by the member/,
    );
    expect(plain((await operator.get(path('grants', grantId(3)))).text)).toContain('No active grant has this ID.');
  });

  it('end one grant', async () => {
    const { location } = await act(path('grants', grantId(4), 'revoke'));
    expect([location, actions()]).toEqual([`/console/grants/${grantId(4)}`, ['grant_ended']]);
    expect((await operator.post(path('grants', grantId(4), 'revoke'))).status).toBe(404);
  });

  it('suspend and resume a member', async () => {
    const { text } = await act(path('members', 'm-5', 'suspend'), { reason: 'compromised' });
    expect(text).toContain('Suspended. 2 grants ended.');
    expect(actions()).toEqual(['grant_ended', 'grant_ended', 'member_suspended']);
    expect(await names('/console/members?state=suspended')).toEqual(['Farid Smith 5']);
    const suspended = plain((await operator.get(path('members', 'm-5'))).text);
    expect(suspended).toMatch(/State suspended since \d+ \w+ 20\d\d, \d\d:\d\d \w+ \(just now\)/);
    expect(suspended).toMatch(/What happened \d+ \w+ 20\d\d, \d\d:\d\d \w+ Member suspended/);
    const resumed = await act(path('members', 'm-5', 'resume'));
    expect(resumed.text).toContain('State active');
    expect(actions()).toEqual(['member_resumed']);
    expect(await names('/console/members?state=suspended')).toEqual([]);
  });

  it('correct the lists by the store, also for what was changed elsewhere', async () => {
    await command(world.admin, '/members/m-11/suspend');
    expect(await names('/console/members?state=suspended')).toEqual([]);
    expect(await names('/console/grants?member=m-11')).toHaveLength(2);
    const { text } = await act(path('members', 'm-11', 'revoke'));
    expect(text).toContain('Disconnected. 0 grants ended.');
    expect(await names('/console/members?state=suspended')).toHaveLength(1);
    expect(await names('/console/grants?member=m-11')).toEqual([]);
    await act(path('members', 'm-11', 'resume'));
    expect(await names('/console/members?state=suspended')).toEqual([]);
  });

  it('ask again before they act on an unknown member', async () => {
    expect(plain((await operator.get('/console/members/m5')).text)).toContain('No member with this ID');
    const asked = await operator.get('/console/members/m5/suspend');
    expect(asked.text).toContain('name="sure"');
    const { location } = await act('/console/members/m5/suspend');
    expect([location, actions()]).toEqual(['/console/members/m5/suspend', []]);
    await act('/console/members/m5/suspend', { sure: 'yes' });
    expect(actions()).toEqual(['member_suspended']);
    await act('/console/members/m5/resume');
  });

  it('disable, enable and delete an app, and require consent again for it', async () => {
    const again = await act(path('apps', 'app-1', 'revoke'));
    expect(again.text).toMatch(/Members will be asked again. 38 grants ended./);
    expect(await names('/console/grants?app=app-1')).toEqual([]);
    const disabled = await act(path('apps', DOCUMENT, 'disable'));
    expect(disabled.location).toBe(path('apps', DOCUMENT));
    expect(disabled.text).toContain('State disabled');
    expect(await names('/console/apps?kind=disabled')).toEqual(['Claude 3']);
    await act(path('apps', DOCUMENT, 'enable'));
    expect(actions()).toEqual(['client_enabled']);
    expect(await names('/console/apps?kind=disabled')).toEqual([]);
    const deleted = await act(path('apps', 'app-2', 'delete'));
    expect(deleted.location).toBe('/console/apps');
    expect(await names('/console/apps?q=app-2')).toEqual([]);
  });

  it('refuse a reason that is too long, and a path that is no text', async () => {
    audited = [];
    const { status, text } = await operator.post(path('members', 'm-9', 'revoke'), { reason: 'x'.repeat(201) });
    expect([status, text.includes('The reason is longer than 200 characters.')]).toEqual([400, true]);
    const odd = await operator.get('/console/members/%ff');
    expect([odd.status, odd.text.includes('The address is not percent-encoded UTF-8.')]).toEqual([400, true]);
    expect(actions()).toEqual([]);
  });

  it('take nothing away without asking first', async () => {
    for (const to of [path('members', 'm-9', 'revoke'), path('apps', 'app-0', 'delete'), '/console/consent']) {
      const asked = await operator.get(to);
      expect(asked.status).toBe(200);
      expect(asked.text).toContain('name="reason"');
    }
    expect((await operator.get(path('members', 'm-9', 'resume'))).status).toBe(404);
  });

  it('require consent again for all apps', async () => {
    const app = await registerApp(world.origin);
    const tokens = await connect(app);
    const { text } = await act('/console/consent', { reason: 'incident' });
    expect(text).toMatch(/Every app has to ask its members again. \d+ grants ended./);
    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(400);
    expect(await names('/console/grants')).toEqual([]);
    await world.restart();
    operator = await opened();
    expect(await names('/console/grants')).toEqual([]);
  });
});

describe('which apps can change data and are not used', () => {
  const DAY = 86_400;
  const now = Math.floor(Date.now() / 1000);
  /** By client ID: what it may do, and for each member the days since the approval and since the last use. */
  const SEEDED = {
    exporter: {
      name: 'Old Exporter',
      scope: 'openid courses:read courses:write',
      members: [
        [90, 33],
        [50, 40],
      ],
    },
    forgotten: { name: 'Never Used', scope: 'openid courses:write', members: [[10, undefined]] },
    reader: { name: 'Old Reader', scope: 'openid courses:read', members: [[90, 80]] },
    busy: {
      name: 'Busy Writer',
      scope: 'openid courses:write',
      members: [
        [90, 0],
        [90, 45],
        [90, undefined],
      ],
    },
  } as const;

  beforeAll(async () => {
    await world.whileStopped(() =>
      withStore(world.data, async (store) => {
        const put = (kind: string, id: string, value: object, refs: object) =>
          store.commit([{ op: 'put', entry: jsonEntry(kind, id, value, undefined, refs) }]);
        for (const [client, { name, scope, members }] of Object.entries(SEEDED)) {
          const metadata = { client_id: client, client_name: name, redirect_uris: [`https://${client}.example/cb`] };
          await put('Client', client, metadata, { client });
          for (const [at, [granted, used]] of members.entries()) {
            const [id, member] = [`${client}-${at}`, memberId(at)];
            const grant = { jti: id, accountId: member, clientId: client, iat: now - granted * DAY, openid: { scope } };
            await put('Grant', id, { ...grant, resources: {} }, { member, client });
            if (used === undefined) continue;
            await put('GrantLastUse', id, { grantId: id, at: now - used * DAY }, { grant: id, member });
          }
        }
        // A member with a second grant counts once.
        const second = { jti: 'again', accountId: memberId(0), clientId: 'busy', iat: now - 20 * DAY, resources: {} };
        const refs = { member: memberId(0), client: 'busy' };
        await put('Grant', 'again', { ...second, openid: { scope: 'openid courses:read' } }, refs);
        const day = Math.floor(now / DAY);
        const areas = [
          ['scope:courses:write', 12, now - 60],
          ['tool:search_courses', 3, now - 120],
        ];
        await put(
          'GrantUse',
          'u',
          { id: 'u', grantId: 'busy-0', day, areas },
          { grant: 'busy-0', member: memberId(0) },
        );
      }),
    );
    operator = await opened();
  });

  it('is answered by three links from the first page', async () => {
    let shown = await operator.get('/console');
    for (const link of ['Apps', 'Can change data', '30+ days ago']) {
      const href = new RegExp(`<a href="([^"]+)"[^>]*>${link.replace('+', '\\+')}</a>`).exec(shown.text)?.[1];
      shown = await operator.get(String(href?.replaceAll('&amp;', '&')));
    }
    expect(namesIn(shown.text)).toEqual(['Old Exporter']);
    expect(plain(shown.text)).toMatch(/Old Exporter exporter.example no can change 2 33 days ago/);
  });

  it('counts days from the last use of any member, or from the first approval', async () => {
    expect(await names('/console/apps?power=change&unused=33')).toEqual(['Old Exporter']);
    expect(await names('/console/apps?power=change&unused=34')).toEqual([]);
    expect(await names('/console/apps?power=change&unused=9&sort=name')).toEqual(['Never Used', 'Old Exporter']);
    expect(await names('/console/apps?power=change&unused=never')).toEqual(['Never Used']);
    expect(await names('/console/apps?power=read&unused=30')).toEqual(['Old Reader']);
    for (const query of ['unused=soon', 'unused=-1', 'power=all'])
      expect((await operator.get(`/console/apps?${query}`)).status).toBe(400);
  });

  it('is sorted by the headings, either way', async () => {
    const sorted = (sort: string) => names(`/console/apps?power=change&sort=${sort}`);
    expect(await sorted('-used')).toEqual(['Busy Writer', 'Old Exporter', 'Never Used']);
    expect(await sorted('used')).toEqual(['Never Used', 'Old Exporter', 'Busy Writer']);
    const { text } = await operator.get('/console/apps?power=change&sort=-members');
    expect(namesIn(text)).toEqual(['Busy Writer', 'Old Exporter', 'Never Used']);
    expect(text).toContain('aria-sort="descending"><a href="/console/apps?power=change&amp;sort=members">Members</a>');
    expect(text).toContain('<a href="/console/apps?power=change&amp;sort=-used">Last used</a>');
  });

  it('is said on the page of the app: what it may do, for how many, and what it did when', async () => {
    const text = plain((await operator.get('/console/apps/busy')).text);
    expect(text).toMatch(/Verified no: .* Last used today Members 3 Grants 4/);
    expect(text).toMatch(
      /Can change In words Scope Members .* courses:write 3 Can see In words Scope Members .* openid 3 .* courses:read 1 What/,
    );
    expect(text).toMatch(/What it did .* can change 12 1 \d+ \w+, \d\d:\d\d Tool: .* 3 1 \d+ \w+, \d\d:\d\d By day/);
  });

  it('comes with whom it hits when the app is disabled', async () => {
    const asked = plain((await operator.get('/console/apps/busy/disable')).text);
    expect(asked).toContain('3 members will lose access; 1 used it in the last 7 days.');
  });
});

it('no audit lines are kept while nobody can open the console', async () => {
  const count = () =>
    world.whileStopped(() =>
      withStore(world.data, async (store) => (await store.scan(['AuditTrail'], undefined, 10_000)).entries.length),
    );
  const before = await count();
  expect(before).toBeGreaterThan(100);
  await world.restart({});
  await connect(await registerApp(world.origin));
  expect(await count()).toBe(before);
});
