import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { auth, Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { freePort } from '../support/world.ts';
import { ADMIN, OLU, SAM, startWordpress, type WordpressSite, wordpressPresent } from './wordpress-site.ts';

const CONFIG = fileURLToPath(new URL('../../integrations/wordpress/coursegate.yaml', import.meta.url));
const CALLBACK = 'https://assistant.example/callback';
const LONGEST = 120_000;
/** The tests of one site follow one another, while those of the other run. */
const IN_TURN = { concurrent: false, timeout: LONGEST };

const COURSES = `<?php
add_filter('coursegate_courses', function ($courses, $member) {
    return [['id' => '7', 'title' => 'Tides of ' . $member->display_name]];
}, 10, 2);
`;

type Credentials = { readonly login: string; readonly password: string };

const MEMBER_KEY = 'm'.repeat(40);
const SECRET = 'between the gate and the school, and nobody else';

const BRIDGE = `login:
  kind: bridge
  url: "/?coursegate=bridge"
  secret: { env: BRIDGE_SECRET }
`;

/** The bundled configuration with its options enabled, optionally with the bridge instead of its login. */
const configOf = (kind: string) => {
  const text = readFileSync(CONFIG, 'utf8')
    .replace(/^( *)# ((?:admin|recheck): )/gm, '$1$2')
    .replace(/^( {2}recheck: .*) }$/m, '$1, interval: 0s }');
  const recheck = /^ {2}recheck: .*\n/m.exec(text)?.[0] ?? '';
  return kind === 'session' ? text : text.replace(/^login:\n( .*\n)+/m, BRIDGE + recheck);
};

describe.skipIf(!wordpressPresent() || !browserPresent()).concurrent.each(['session', 'bridge'])(
  'WordPress behind the gate with login %s',
  (kind) => {
    let folder: string;
    let site: WordpressSite;
    let gate: Gateway;
    let browser: Browser;
    let origin: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'coursegate-wordpress-gate-'));
      writeFileSync(join(folder, 'coursegate.yaml'), configOf(kind));
      const [port, adminPort] = [await freePort(), await freePort()];
      origin = `http://localhost:${port}`;
      [site, browser] = await Promise.all([
        startWordpress({
          origin,
          settings: {
            COURSEGATE_ORIGIN: origin,
            COURSEGATE_SECRET: SECRET,
            COURSEGATE_KEY: MEMBER_KEY,
            COURSEGATE_ADMIN: `http://127.0.0.1:${adminPort}/`,
            COURSEGATE_ADMIN_SECRET: COMMAND_SECRET,
          },
          plugins: { 'courses.php': COURSES },
        }),
        launchChromium(),
      ]);
      const loaded = await loadConfig({
        file: join(folder, 'coursegate.yaml'),
        environment: { BRIDGE_SECRET: SECRET, COURSEGATE_KEY: MEMBER_KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET },
        overrides: {
          origin,
          listen: { port, admin: { port: adminPort } },
          store: { kind: 'memory' },
          upstreams: { wordpress: { url: site.url } },
        },
      });
      expect(loaded.config.login.kind).toBe(kind);
      gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    }, LONGEST);
    afterAll(async () => {
      const complaints = site?.complaints();
      await gate?.close(1);
      await browser?.close();
      await site?.close();
      rmSync(folder, { recursive: true, force: true });
      expect(complaints).toEqual([]);
    });

    /** A new browser context, without a signed-in member. */
    const visit = async <T>(story: (page: Page) => Promise<T>): Promise<T> => {
      const context = await browser.newContext();
      context.setDefaultTimeout(30_000);
      try {
        return await story(await context.newPage());
      } finally {
        await context.close();
      }
    };

    const signIn = async (page: Page, { login, password }: Credentials) => {
      // The page clears the password shortly after loading, when it focuses the field.
      await page.locator('#loginform input:focus').waitFor();
      await page.locator('#user_login').fill(login);
      await page.locator('#user_pass').fill(password);
      await page.locator('#wp-submit').click();
    };

    /** Goes from an app's authorization request through WordPress's login and consent back to the app. Returns the final URL. */
    const approve = async (page: Page, url: URL, member: Credentials, mistyped: boolean): Promise<URL> => {
      await page.route(`${CALLBACK}*`, (route) => route.fulfill({ body: 'connected' }));
      await page.goto(url.href);
      await page.waitForURL(/\/wp-login\.php/);
      if (mistyped) {
        await signIn(page, { ...member, password: 'wrong' });
        await page.locator('#login_error').waitFor();
      }
      await signIn(page, member);
      await page.locator('main#consent').waitFor();
      expect(await page.locator('main').innerText()).toContain(member.login);
      await page.locator('button[value=approve]').click();
      await page.waitForURL(`${CALLBACK}*`);
      return new URL(page.url());
    };

    /** The SDK's own client at the endpoint for members, and its stored state. The password may be mistyped at first. */
    const assistant = async ({ email: login, password }: typeof SAM, { mistyped = false } = {}) => {
      const kept: Record<string, unknown> = {};
      let asked: URL | undefined;
      const keep = (name: string) => ({
        read: () => kept[name],
        write: (value: unknown) => void Object.assign(kept, { [name]: value }),
      });
      const [registered, tokens, verifier, discovery] = ['client', 'tokens', 'verifier', 'discovery'].map(keep);
      const provider = {
        redirectUrl: CALLBACK,
        clientMetadata: { client_name: 'Assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
        clientInformation: registered?.read,
        saveClientInformation: registered?.write,
        tokens: tokens?.read,
        saveTokens: tokens?.write,
        codeVerifier: verifier?.read,
        saveCodeVerifier: verifier?.write,
        discoveryState: discovery?.read,
        saveDiscoveryState: discovery?.write,
        state: () => 'a-state',
        redirectToAuthorization: (url: URL) => {
          asked = url;
        },
      } as unknown as OAuthClientProvider;
      const address = `${origin}/mcp/member`;
      const scope = 'openid profile email account:read posts:read comments:read courses:read orders:read';
      expect(await auth(provider, { serverUrl: address, scope })).toBe('REDIRECT');
      const returned = await visit((page) => approve(page, asked as unknown as URL, { login, password }, mistyped));
      const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
      await transport.finishAuth(returned.searchParams);
      const client = new Client({ name: 'assistant', version: '1' });
      await client.connect(transport);
      return {
        client,
        token: () => (kept.tokens as { access_token: string }).access_token,
        refreshed: () => auth(provider, { serverUrl: address, scope }),
        read: async (name: string) => (await client.callTool({ name, arguments: {} })).structuredContent,
      };
    };

    it(
      'a member signs in on WordPress’s own page, and an assistant reads that member’s data and no one else’s',
      IN_TURN,
      async () => {
        const [ofSam, ofOlu] = await Promise.all([assistant(SAM, { mistyped: true }), assistant(OLU)]);
        expect((await ofSam.client.listTools()).tools.map(({ name }) => name)).toEqual([
          'search_posts',
          'get_my_profile',
          'list_my_posts',
          'list_my_comments',
          'list_my_courses',
          'list_my_orders',
        ]);
        for (const [app, { id, email, name }, other] of [
          [ofSam, SAM, OLU],
          [ofOlu, OLU, SAM],
        ] as const) {
          expect(await app.read('get_my_profile')).toMatchObject({ id, email, name, roles: ['author'] });
          const posts = (await app.read('list_my_posts')) as { items: { title: string; status: string }[] };
          expect(posts).toMatchObject({ total: 3, nextPage: null });
          expect(posts.items).toContainEqual(
            expect.objectContaining({ title: `${name} & a draft post`, status: 'draft' }),
          );
          expect(await app.read('list_my_comments')).toMatchObject({ total: 3 });
          expect(await app.read('list_my_courses')).toMatchObject({ items: [{ title: `Tides of ${name}` }], total: 1 });
          for (const tool of ['get_my_profile', 'list_my_posts', 'list_my_comments', 'list_my_courses']) {
            expect(JSON.stringify(await app.read(tool))).not.toContain(other.name);
          }
          // Published posts are public; drafts and private posts are never included.
          const found = JSON.stringify(await app.read('search_posts'));
          for (const author of [SAM, OLU]) expect(found).toContain(`${author.name} & a publish post`);
          expect(found).not.toMatch(/draft|private/);
          // The site has no shop.
          expect(await app.client.callTool({ name: 'list_my_orders', arguments: {} })).toMatchObject({ isError: true });
        }
        await ofSam.client.close();
        await ofOlu.client.close();
      },
    );

    it('a token opens the configured routes and nothing else, whatever other headers are sent', IN_TURN, async () => {
      const app = await assistant(SAM);
      const claims = { 'x-member-id': ADMIN.id, x_member_id: ADMIN.id, 'x-coursegate-assertion': 'a.b.c' };
      const get = (path: string, headers: Record<string, string>) =>
        fetch(origin + path, { headers, redirect: 'manual' });
      const token = { authorization: `Bearer ${app.token()}` };
      const me = '/wp-json/coursegate/v1/me';
      for (const headers of [token, { ...token, ...claims }]) {
        const answer = await get(me, headers);
        expect([answer.status, (await answer.json()).id]).toEqual([200, SAM.id]);
      }
      // Forged identity headers without a token do not arrive, on a protected route and on the site lane.
      expect((await get(me, claims)).status).toBe(401);
      for (const path of ['/wp-json/coursegate/v1/me/', '/?rest_route=/coursegate/v1/me', '/?coursegate=whoami']) {
        for (const headers of [claims, { ...token, ...claims }]) {
          const answer = await get(path, headers);
          expect([401, 404]).toContain(answer.status);
          expect(await answer.text()).not.toContain('assertion');
        }
      }
      expect((await get('/', claims)).status).toBe(200);
      await app.client.close();
    });

    const me = async (token: string) =>
      (await fetch(`${origin}/wp-json/coursegate/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;

    it(
      'an app is refused on its next request after a password change, and other members’ apps are not',
      IN_TURN,
      async () => {
        const [app, other] = await Promise.all([assistant(SAM), assistant(OLU)]);
        expect(await me(app.token())).toBe(200);
        await site.run(`wp_update_user(['ID' => ${SAM.id}, 'user_pass' => '${SAM.password}']);`);
        expect(await me(app.token())).toBe(401);
        expect(await me(other.token())).toBe(200);
        await app.client.close();
        await other.client.close();
      },
    );

    it('an app cannot refresh its token after a password change without an event', IN_TURN, async () => {
      const app = await assistant(SAM);
      expect(await app.refreshed()).toBe('AUTHORIZED');
      // As a tool that writes to the database would do.
      await site.run(`global $wpdb; $hash = wp_hash_password('${SAM.password}');
        $wpdb->update($wpdb->users, ['user_pass' => $hash], ['ID' => ${SAM.id}]); clean_user_cache(${SAM.id});`);
      expect(await me(app.token())).toBe(200);
      // The SDK retries with the same token, which has been revoked by then.
      await expect(app.refreshed()).rejects.toThrow('the refresh token is not known here');
      expect(await me(app.token())).toBe(401);
      await app.client.close();
    });
  },
);
