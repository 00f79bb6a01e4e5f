import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, type AuthorizationRequest, authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { BRIDGE_SECRET } from '../support/bridge-backend.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { offeredScopes } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { KINDS, type Kind } from './support/cut-off-kinds.ts';
import { type Account, type CutOffSite, startCutOffSite } from './support/cut-off-site.ts';
import { type ScriptedIdp, startScriptedIdp } from './support/scripted-idp.ts';
import { WEBHOOK_SECRET } from './support/webhook-backend.ts';

/** The rows of the table in docs/login/README.md: what the three changes do, by what the row is about. */
const TABLE = new Map(
  [
    ...readFileSync(new URL('../../docs/login/README.md', import.meta.url), 'utf8').matchAll(
      /^\| (.+) \| (at .+|never) \| (at .+|never) \| (at .+|never) \|$/gm,
    ),
  ].map(([, about = '', ...cells]) => [about.replace(/\[(.+?)\]\(.+?\)/g, '$1').replaceAll('`', ''), cells]),
);

const PLATFORM_SECRET = 'what the platform signs webhooks with';
/** The passwords, and their hashes at low cost. */
const HASHES: Readonly<Record<string, string>> = {
  'ann’s': '$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG',
  'bob’s': '$argon2id$v=19$m=8192,t=1,p=1$dVhwd2wxdHBHWkpTL3RUNw$9VsL7VzeeFHBIeVIze6cC74DOnCHpPct8dd+GNlbESM',
};

const CHANGES = [
  { column: 0, change: 'a new password', verb: 'revoke', becomes: { password: 'bob’s' } },
  { column: 1, change: 'a suspension', verb: 'suspend', becomes: { state: 'suspended' } },
  { column: 2, change: 'a deletion', verb: 'revoke', becomes: { state: 'deleted' } },
] as const;
type Change = (typeof CHANGES)[number];

const folder = mkdtempSync(join(tmpdir(), 'coursegate-cut-off-'));
const directory = join(folder, 'members.yaml');
const databaseFile = join(folder, 'members.db');
let database: DatabaseSync;
let site: CutOffSite;
let idp: ScriptedIdp;
let world: World;
let app: App;

/** Writes an account to the table and the file that `database` and `directory` read. */
function publish({ id, password, state }: Account): void {
  database.prepare('delete from members where id = ?').run(id);
  if (state !== 'deleted') {
    const row = [id, HASHES[password] ?? '', state === 'active' ? 1 : 0];
    database.prepare('insert into members values (?, ?, ?)').run(...row);
  }
  const members = [...site.accounts.values()]
    .filter((one) => one.state !== 'deleted')
    .map((one) => ({
      id: one.id,
      login: one.id,
      password: HASHES[one.password],
      suspended: one.state === 'suspended',
    }));
  writeFileSync(`${directory}.new`, JSON.stringify({ members }));
  renameSync(`${directory}.new`, directory);
}

const settings = (login: Readonly<Record<string, unknown>>) => ({
  listen: { trustedProxies: ['loopback'] },
  upstreams: { site: { url: site.url, breaker: { failures: 0 } } },
  admin: {
    hmac: { secret: { env: 'COMMAND_SECRET' } },
    webhooks: {
      platform: {
        secret: { env: 'PLATFORM_SECRET' },
        member: '/user/id',
        event: { '/event': { 'a new password': 'revoke', 'a suspension': 'suspend', 'a deletion': 'revoke' } },
      },
    },
  },
  login,
  // Refusals at once.
  constants: { login: { attempts: { refusalTime: 0 } } },
});

beforeAll(async () => {
  [site, idp] = await Promise.all([startCutOffSite(), startScriptedIdp()]);
  database = new DatabaseSync(databaseFile);
  database.exec('pragma synchronous = off; create table members (id text, hash text, active integer)');
  const environment = { COMMAND_SECRET, PLATFORM_SECRET, BRIDGE_SECRET, WEBHOOK_SECRET };
  world = await startWorld({
    profile: 'A',
    environment: { ...environment, MEMBERS: `sqlite:${databaseFile}` },
    overrides: settings(KINDS[0]?.login({ site, idp, directory }) ?? {}),
  });
  app = await registerApp(world.origin);
});
afterAll(async () => {
  await world.close();
  await Promise.all([site.close(), idp.close()]);
  database.close();
  rmSync(folder, { recursive: true });
});

describe('the table of docs/login/README.md about what ends access', () => {
  it('has a row for each kind of login, and two for what works with all of them', () => {
    const rows = KINDS.map(({ row }) => row);
    expect([...TABLE.keys()]).toEqual([...rows, 'any of them, with backend events', 'any of them, with webhooks']);
  });
});

/** Reloads the gate with a kind of login. */
async function use({ login }: Kind): Promise<void> {
  const reload = await world.reload(settings(login({ site, idp, directory })));
  expect(reload.kind).not.toBe('refused');
}

interface Visit {
  readonly request: AuthorizationRequest;
  readonly browser: Browser;
  readonly page: Page;
}

/** Goes as far as the member gets: to the consent page, unless the site does not let them in. */
async function visit(kind: Kind, of: Account): Promise<Visit> {
  const request = await authorizationRequest(app);
  const browser = (await kind.browser?.(of, { site, idp, directory })) ?? createBrowser();
  const page = await browser.open(request.url, (location) => !location.startsWith(`${world.origin}/login`));
  if (kind.browser !== undefined) return { request, browser, page };
  return { request, browser, page: await browser.submit(page, { username: of.id, password: of.password }) };
}

async function connected(kind: Kind, of: Account): Promise<Tokens> {
  const { request, browser, page } = await visit(kind, of);
  expect(page.text).toContain('<main id="consent">');
  const toGate = (location: string) => !location.startsWith(app.redirectUri);
  const last = await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, toGate);
  return (await redeem(app, request, new URL(last.location ?? ''))) as unknown as Tokens;
}

/** Adds a member to the site. */
function newMember(name: string): Account {
  const account: Account = {
    id: `${name.replaceAll(' ', '-')}-${site.accounts.size}`,
    password: 'ann’s',
    state: 'active',
  };
  site.accounts.set(account.id, account);
  publish(account);
  return account;
}

describe.each(KINDS)('$row', (kind) => {
  const { row, idOf = ({ id }) => id } = kind;
  beforeAll(() => use(kind));

  /** What becomes of the app of a member after a change at the site, and what the site tells the gate about it. */
  const fate = async ({ becomes }: Change, tell: (of: Account) => Promise<unknown> = async () => {}) => {
    const account = newMember(row);
    const first = await connected(kind, account);
    Object.assign(account, becomes);
    publish(account);
    await tell(account);
    if ((await statusOf(world.origin, first.access_token)) === 401) return 'at once';
    const second = await token(app, refreshForm(app, first.refresh_token));
    if (second.status === 400) {
      expect(second.body.error).toBe('invalid_grant');
      expect(await statusOf(world.origin, first.access_token)).toBe(401);
      return 'at the next refresh';
    }
    const { page } = await visit(kind, account);
    expect(page.text.includes('<main id="consent">')).toBe(account.state === 'active');
    const third = await token(app, refreshForm(app, second.body.refresh_token));
    if (third.status === 200) return 'never';
    expect(third.body.error).toBe('invalid_grant');
    return 'at the next sign-in';
  };

  it.each(CHANGES)('$change ends access as the table says', async (change) => {
    expect(await fate(change)).toBe(TABLE.get(row)?.[change.column]);
  });

  /** Two of the changes: each is proven with a third of the kinds, and each kind with both ways of telling the gate. */
  const [told, sent] = [0, 1].map((more) => CHANGES[(KINDS.indexOf(kind) + more) % 3] as Change) as [Change, Change];

  it(`${told.change} ends access as the table says, with backend events`, async () => {
    const tell = (of: Account) => command(world.admin, `/members/${idOf(of)}/${told.verb}`);
    expect(await fate(told, tell)).toBe(TABLE.get('any of them, with backend events')?.[told.column]);
  });

  it(`${sent.change} ends access as the table says, with webhooks`, async () => {
    const tell = async (of: Account) => {
      const body = JSON.stringify({ event: sent.change, user: { id: idOf(of) } });
      const signature = createHmac('sha256', PLATFORM_SECRET).update(body).digest('hex');
      const headers = { 'x-platform-signature': `sha256=${signature}` };
      expect((await fetch(`${world.admin}/webhooks/platform`, { method: 'POST', headers, body })).status).toBe(200);
    };
    expect(await fate(sent, tell)).toBe(TABLE.get('any of them, with webhooks')?.[sent.column]);
  });
});

describe('a database that is down at a refresh', () => {
  it('is a 503 that loses nothing', async () => {
    const kind = KINDS.find(({ row }) => row === 'database') as Kind;
    await use(kind);
    const account = newMember('down');
    const { access_token, refresh_token } = await connected(kind, account);
    renameSync(databaseFile, `${databaseFile}.away`);
    const down = await token(app, refreshForm(app, refresh_token));
    expect([down.status, down.body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await statusOf(world.origin, access_token)).toBe(200);
    renameSync(`${databaseFile}.away`, databaseFile);
    expect((await token(app, refreshForm(app, refresh_token))).status).toBe(200);
  });
});
