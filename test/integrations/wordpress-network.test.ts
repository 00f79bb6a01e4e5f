import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { BLOCKS } from '../docs/support/pages.ts';
import { authorizationRequest, bearer, redeem, refresh, registerApp } from '../support/app.ts';
import { createBrowser, type Page } from '../support/browser.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { offeredScopes } from '../support/member.ts';
import { toPort } from '../support/schools.ts';
import { freePort } from '../support/world.ts';
import { bridgeQuery } from './contract/signing-gate.ts';
import { ADMIN, startWordpress, type WordpressSite, wordpressPresent } from './wordpress-site.ts';

const INTEGRATIONS = fileURLToPath(new URL('../../integrations', import.meta.url));
const MEMBER_KEY = 'm'.repeat(40);
const BRIDGE_SECRET = 'b'.repeat(40);
const LONGEST = 240_000;

/** Sites 2 and 3 of the network. The first, at network.example, has no school. */
const HARBOUR = 'https://harbour.example';
const MILL = 'https://mill.example';

/** The two Anas have the same name, and are two members. Noor belongs to both sites. */
const ANA = { login: 'ana', password: 'ana-at-the-harbour', email: 'ana@one.example', name: 'Ana Ruiz' };
const OTHER_ANA = { login: 'ana2', password: 'ana-at-the-mill', email: 'ana@two.example', name: 'Ana Ruiz' };
const NOOR = { login: 'noor', password: 'noor-and-the-north', email: 'noor@one.example', name: 'Noor Haddad' };

type Credentials = Pick<typeof ANA, 'login' | 'password'>;

const create = ({ login, password, email, name }: typeof ANA, sites: readonly number[]) => `
$id = wpmu_create_user('${login}', '${password}', '${email}');
wp_update_user(['ID' => $id, 'display_name' => '${name}']);
foreach ([${sites.join(', ')}] as $site) {
  add_user_to_blog($site, $id, 'author');
  switch_to_blog($site);
  wp_insert_post(['post_author' => $id, 'post_status' => 'draft', 'post_title' => "A post of ${login} at site $site"]);
  restore_current_blog();
}
`;

/** The block of docs/schools.md that has these words. */
function documented(language: string, words: string): string {
  const found = BLOCKS.filter((one) => one.file === 'docs/schools.md' && one.headings.at(-1)?.startsWith('WordPress'));
  const block = found.find((one) => one.language === language && one.text.includes(words));
  if (block === undefined) throw new Error(`docs/schools.md has no ${language} with ${words}`);
  return block.text;
}

/** Keeps the last assertion that a site got. */
const KEEPER = `<?php
$assertion = $_SERVER['HTTP_X_COURSEGATE_ASSERTION'] ?? '';
if ($assertion !== '') update_site_option('last_assertion', $assertion);
`;

describe.skipIf(!wordpressPresent())('a network of WordPress sites, each a school', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-network-'));
  let dispatcher: Dispatcher;
  let site: WordpressSite;
  let gate: Gateway;
  beforeAll(async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    site = await startWordpress({
      plugins: { 'a-keeper.php': KEEPER },
      origin: 'https://network.example',
      network: ['harbour.example', 'mill.example'],
      settings: {
        ...Object.fromEntries(
          [...documented('php', 'COURSEGATE_ADMIN').matchAll(/^define\('(\w+)', '(.*)'\);/gm)].map(
            ([, name, value]) => [name, value?.replace(':8080/', `:${port}/`).replace(':9090/', `:${adminPort}/`)],
          ),
        ),
        COURSEGATE_KEY: MEMBER_KEY,
        COURSEGATE_SECRET: BRIDGE_SECRET,
        COURSEGATE_ADMIN_SECRET: COMMAND_SECRET,
      },
    });
    await site.run(`
      foreach ([2, 3] as $site) {
        switch_to_blog($site);
        foreach (['home', 'siteurl'] as $name) update_option($name, 'https://' . get_site($site)->domain);
        update_option('permalink_structure', '/%postname%/');
        restore_current_blog();
      }
      remove_user_from_blog(${ADMIN.id}, 2);
      ${create(ANA, [2])} ${create(OTHER_ANA, [3])} ${create(NOOR, [2, 3])}`);
    // As docs/schools.md says, but for addresses, a store in memory, and a recheck at each refresh.
    const [shared = '', main = '', harbour = '', mill = ''] = [
      documented('sh', 'cp -r'),
      documented('text', 'probes:'),
      documented('text', HARBOUR),
      documented('text', MILL),
    ];
    execFileSync('sh', ['-ec', shared.replaceAll('integrations/', `${INTEGRATIONS}/`)], { cwd: folder });
    const common = join(folder, 'wordpress.yaml');
    const text = readFileSync(common, 'utf8').replace('http://127.0.0.1:8000', site.url);
    writeFileSync(common, text.replace(/^( {2}recheck: .*) }$/m, '$1, interval: 0s }'));
    writeFileSync(join(folder, 'schools/site-2.yaml'), harbour);
    writeFileSync(join(folder, 'schools/site-3.yaml'), mill);
    const file = join(folder, 'coursegate.yaml');
    const listen = { host: '127.0.0.1', port, trustedProxies: ['loopback'], admin: { port: adminPort } };
    writeFileSync(file, stringify({ ...parse(main), listen, store: { kind: 'memory' }, secret: undefined }));
    const environment = { COURSEGATE_KEY: MEMBER_KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET };
    const loaded = await loadConfig({ file, environment });
    gate = await startGateway({
      loaded,
      log: createLog(process.env.LOGS === undefined ? 'silent' : 'info', 2),
      clock: Date.now,
    });
    dispatcher = getGlobalDispatcher();
    setGlobalDispatcher(toPort(port));
  }, LONGEST);
  afterAll(async () => {
    if (dispatcher !== undefined) setGlobalDispatcher(dispatcher);
    const complaints = site?.complaints();
    await gate?.close(1);
    await site?.close();
    rmSync(folder, { recursive: true, force: true });
    expect(complaints).toEqual([]);
  });

  /** Goes to the site's own sign-in page, and signs in there. Returns the page that the member sees then. */
  const signIn = async (origin: string, { login, password }: Credentials) => {
    const app = await registerApp(origin);
    const asked = await authorizationRequest(app, { scope: 'openid account:read posts:read' });
    const browser = createBrowser();
    const page = await browser.open(asked.url);
    expect(page.url).toMatch(new RegExp(`^${origin}/wp-login\\.php\\?`));
    const seen: Page = await browser.submit(page, { log: login, pwd: password });
    return { app, asked, browser, seen };
  };
  const connect = async (origin: string, member: Credentials) => {
    const { app, asked, browser, seen } = await signIn(origin, member);
    const fields = { decision: 'approve', scope: offeredScopes(seen) };
    const last = await browser.submit(seen, fields, (location) => !location.startsWith(app.redirectUri));
    return { app, tokens: await redeem(app, asked, new URL(last.location ?? '')) };
  };
  const me = async (origin: string, token: string, path = '') => {
    const answer = await fetch(`${origin}/wp-json/coursegate/v1/me${path}`, { headers: bearer(token) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const titles = async (origin: string, token: string) =>
    ((await me(origin, token, '/posts')).body.items as { title: string }[]).map(({ title }) => title);

  /** Asks WordPress itself, past the gate. */
  const atSite = async (host: string, path: string, headers: Record<string, string>) => {
    const sent = request(site.url + path, { headers: { host, 'x-forwarded-proto': 'https', ...headers } });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return { status: answer.statusCode, text };
  };

  it('has two members of one name at two sites, whom an app reads at their own site', async () => {
    const [ana, other] = [await connect(HARBOUR, ANA), await connect(MILL, OTHER_ANA)];
    const [there, here] = [await me(HARBOUR, ana.tokens.access_token), await me(MILL, other.tokens.access_token)];
    expect([there.body, here.body]).toMatchObject([
      { id: '5', name: ANA.name, email: ANA.email, roles: ['author'] },
      { id: '6', name: ANA.name, email: OTHER_ANA.email, roles: ['author'] },
    ]);
    expect(await titles(HARBOUR, ana.tokens.access_token)).toEqual(['A post of ana at site 2']);
    expect(await titles(MILL, other.tokens.access_token)).toEqual(['A post of ana2 at site 3']);
  });

  it.each([
    ['a member of another site', MILL, ANA],
    ['an administrator of the network who is no member', HARBOUR, ADMIN],
  ])('signs in no one who is %s', async (_title, origin, member) => {
    const { seen, browser } = await signIn(origin, member);
    expect(seen.text).toContain('You are not signed in to');
    // The login cookie itself is one of the network.
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
    const whoami = (host: string) => atSite(host, '/?coursegate=whoami', { cookie });
    expect(cookie).toContain('wordpress_logged_in_');
    expect(await whoami(new URL(origin).host)).toMatchObject({ status: 401 });
  });

  it('keeps what was given at one site from the other, also for a member of both', async () => {
    const { tokens } = await connect(HARBOUR, NOOR);
    const there = await connect(MILL, NOOR);
    expect(await titles(HARBOUR, tokens.access_token)).toEqual(['A post of noor at site 2']);
    const assertion = await site.run(`echo get_site_option('last_assertion');`);
    expect(await titles(MILL, there.tokens.access_token)).toEqual(['A post of noor at site 3']);

    expect((await me(MILL, tokens.access_token)).status).toBe(401);
    expect((await me(HARBOUR, there.tokens.access_token)).status).toBe(401);
    await expect(refresh(there.app, tokens.refresh_token ?? '')).rejects.toThrow();

    const headers = { 'x-coursegate-assertion': assertion };
    const path = '/wp-json/coursegate/v1/me';
    expect(await atSite('harbour.example', path, headers)).toMatchObject({ status: 200 });
    expect(await atSite('mill.example', path, headers)).toMatchObject({
      status: 401,
      text: expect.stringContaining('wrong issuer'),
    });
  });

  it('lets the bridge of a site return members to the school of that site alone, although all have one secret', async () => {
    const asked = async (host: string, origin: string) => {
      const query = bridgeQuery(BRIDGE_SECRET, { nonce: 'n', return_sso_url: `${origin}/oauth/sign-in/callback/x` });
      return (await atSite(host, `/?${new URLSearchParams({ coursegate: 'bridge', ...query })}`, {})).status;
    };
    expect([await asked('harbour.example', HARBOUR), await asked('mill.example', MILL)]).toEqual([302, 302]);
    expect([await asked('harbour.example', MILL), await asked('mill.example', HARBOUR)]).toEqual([403, 403]);
    expect(await asked('harbour.example', 'https://network.example')).toBe(403);
  });

  it('offers assistants the posts of the site where they connected', async () => {
    for (const [origin, id] of [
      [HARBOUR, 2],
      [MILL, 3],
    ] as const) {
      const { tokens } = await connect(origin, NOOR);
      const answer = await fetch(`${origin}/mcp/member`, {
        method: 'POST',
        headers: {
          ...bearer(tokens.access_token),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-06-18',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'list_my_posts', arguments: {} },
        }),
      });
      const text = await answer.text();
      expect(text).toContain(`A post of noor at site ${id}`);
      expect(text).not.toContain(`at site ${5 - id}`);
      const other = origin === HARBOUR ? MILL : HARBOUR;
      const refused = await fetch(`${other}/mcp/member`, { method: 'POST', headers: bearer(tokens.access_token) });
      expect(refused.status).toBe(401);
    }
  });

  it('cuts apps off at the site where a member’s role changes, and at every site after a new password', async () => {
    const before = site.log().length;
    const [ofHarbour, ofMill] = [await connect(HARBOUR, NOOR), await connect(MILL, NOOR)];
    const both = async () =>
      [await me(HARBOUR, ofHarbour.tokens.access_token), await me(MILL, ofMill.tokens.access_token)].map(
        ({ status }) => status,
      );
    expect(await both()).toEqual([200, 200]);
    await site.run(`switch_to_blog(2); get_user_by('login', 'noor')->set_role('editor');`);
    expect(await both()).toEqual([401, 200]);
    await site.run(`wp_update_user(['ID' => get_user_by('login', 'noor')->ID, 'user_pass' => '${NOOR.password}']);`);
    expect(await both()).toEqual([401, 401]);

    const after = await connect(MILL, NOOR);
    await site.run(`remove_user_from_blog(get_user_by('login', 'noor')->ID, 3);`);
    expect((await me(MILL, after.tokens.access_token)).status).toBe(401);
    await expect(refresh(after.app, after.tokens.refresh_token ?? '')).rejects.toThrow();
    const { seen } = await signIn(MILL, NOOR);
    expect(seen.text).toContain('You are not signed in to');
    expect(site.log().slice(before)).not.toContain('could not revoke');
  });
});
