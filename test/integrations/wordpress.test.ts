import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
const LONGEST = 240_000;
/** The tests of one site follow one another, while those of the other run. */
const IN_TURN = { concurrent: false, timeout: LONGEST };

/**
 * LearnDash is not freely available: these are the functions of its public reference that the drop-in calls, with data for
 * the tests, on a site in German. Olu (2) reads English, and the site translates its titles. One more course is added
 * without a plugin.
 */
const LEARNDASH = `<?php
add_filter('pre_option_timezone_string', fn () => 'America/New_York');
add_filter('pre_option_WPLANG', fn () => 'de_DE');
add_action('init', fn () => register_post_type('sfwd-courses', ['public' => true, 'rewrite' => ['slug' => 'courses']]));
add_filter('the_title', fn ($title) => determine_locale() === 'en_US' ? str_replace('Knoten', 'Knots', $title) : $title);
add_filter('coursegate_courses', function ($courses, $member) {
    $courses[] = ['id' => '7', 'slug' => 'tides', 'title' => 'Tides of ' . $member->display_name, 'hasLifetimeAccess' => true];
    return $courses;
}, 10, 2);
function learndash_user_get_enrolled_courses($member) { return get_user_meta($member, 'enrolled'); }
function learndash_user_get_course_progress($member, $course) {
    return get_user_meta($member, "progress_$course", true) ?: ['completed' => 0, 'total' => 0];
}
function learndash_get_administrators_group_ids($member, $menu = false) { return $menu ? get_user_meta($member, 'leads') : [1]; }
function learndash_group_enrolled_courses($group) { return $group === '31' ? ['811', '812'] : []; }
function ld_course_access_expires_on($course, $member) { return (int) get_user_meta($member, "ends_$course", true); }
`;

/** Sam has 21 courses of LearnDash, of which he has begun the first; Olu has one. */
const ENROLL = `
for ($at = 0; $at < 22; $at++) {
  $title = $at === 0 ? 'Bäume & „Blumen“ – O’Neill' : ($at < 21 ? "Tiden $at" : 'Knoten für Olu');
  $course = wp_insert_post(['post_type' => 'sfwd-courses', 'post_status' => 'publish', 'post_title' => $title]);
  add_user_meta($at < 21 ? ${SAM.id} : ${OLU.id}, 'enrolled', (string) $course);
  if ($at > 0) continue;
  update_user_meta(${SAM.id}, "ends_$course", 2114398799);
  update_user_meta(${SAM.id}, "progress_$course", ['completed' => 2, 'total' => 3, 'last_id' => 4711, 'lessons' => []]);
}
update_user_meta(${OLU.id}, 'locale', 'en_US');
`;
const ACCOUNT_QUERY = `{ viewer { id email name enrolledCourses(first: 30) { totalCount pageInfo { hasNextPage } nodes {
  slug title url expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;

type Credentials = { readonly login: string; readonly password: string };

const MEMBER_KEY = 'm'.repeat(40);
const SECRET = 'between the gate and the school, and nobody else';

const BRIDGE = `login:
  kind: bridge
  url: "/?coursegate=bridge"
  secret: { env: BRIDGE_SECRET }
`;

const TEACH =
  '  - { match: "GET /teach/{course}", upstream: wordpress, scopes: [account:read], anonymous: refuse, role: ["instructor of {path.course}", "group_leader of {path.course}"] }\n';

/** The bundled configuration, optionally with the bridge instead of its login. */
const configOf = (kind: string) => {
  const text = readFileSync(CONFIG, 'utf8')
    .replace(/^( {2}recheck: .*) }$/m, '$1, interval: 0s }')
    .replace(/^routes:\n/m, `routes:\n${TEACH}`);
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
          plugins: { 'learndash.php': LEARNDASH },
        }),
        launchChromium(),
      ]);
      await site.run(ENROLL);
      const loaded = await loadConfig({
        file: join(folder, 'coursegate.yaml'),
        environment: { BRIDGE_SECRET: SECRET, COURSEGATE_KEY: MEMBER_KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET },
        overrides: {
          origin,
          listen: { port, admin: { port: adminPort } },
          store: { kind: 'memory' },
          upstreams: { wordpress: { url: site.url } },
          mcp: { skills: join(dirname(CONFIG), 'skills') },
          account: {
            schema: join(dirname(CONFIG), '../account.graphql'),
            mappings: join(dirname(CONFIG), 'mapping.graphql'),
          },
        },
      });
      expect(loaded.config.login.kind).toBe(kind);
      gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    }, LONGEST);
    afterAll(async () => {
      const complaints = site?.complaints();
      for (const { client } of (await both) ?? []) await client.close();
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

    type Assistant = Awaited<ReturnType<typeof assistant>>;
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

    /** An assistant of each of the two members, for the tests that only read. */
    let both: Promise<[Assistant, Assistant]> | undefined;
    const assistants = () => {
      both ??= Promise.all([assistant(SAM, { mistyped: true }), assistant(OLU)]);
      return both;
    };

    it(
      'a member signs in on WordPress’s own page, and an assistant reads that member’s data and no one else’s',
      IN_TURN,
      async () => {
        const [ofSam, ofOlu] = await assistants();
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
          const [total, nextPage] = app === ofSam ? [22, 2] : [2, null];
          expect(await app.read('list_my_courses')).toMatchObject({ total, nextPage });
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
      },
    );

    it('a token opens the configured routes and nothing else, whatever other headers are sent', IN_TURN, async () => {
      const [app] = await assistants();
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
    });

    it('a member teaches the courses they wrote, and leads those of their group', IN_TURN, async () => {
      const taught = await site.run(
        `echo wp_insert_post(['post_type' => 'sfwd-courses', 'post_status' => 'draft', 'post_title' => 'Taught', 'post_author' => ${SAM.id}]);`,
      );
      await site.run(`update_user_meta(${OLU.id}, 'leads', '31');`);
      const rolesOf = async (id: string) => {
        const answer = await fetch(`${site.url}/?coursegate=member&roles=1&id=${id}`, {
          headers: { 'coursegate-key': MEMBER_KEY },
        });
        return (await answer.json()) as { roles: string[]; courses: Record<string, string[]> };
      };
      const [ofSam, ofOlu] = [await rolesOf(SAM.id), await rolesOf(OLU.id)];
      expect(ofSam.courses[taught]).toEqual(['instructor']);
      expect(Object.values(ofSam.courses).filter(([role]) => role === 'student')).toHaveLength(21);
      expect(ofOlu.courses).toMatchObject({ '811': ['group_leader'], '812': ['group_leader'] });
      expect(ofOlu.courses[taught]).toBeUndefined();

      const [sam, olu] = await assistants();
      // The drop-in answers for no such page, whoever asks: only the gate says that a role is missing.
      const isRefused = async ({ token }: Assistant, course: string) => {
        const answer = await fetch(`${origin}/teach/${course}`, { headers: { authorization: `Bearer ${token()}` } });
        return (await answer.text()).includes('This needs the role');
      };
      expect([await isRefused(sam, taught), await isRefused(sam, '811')]).toEqual([false, true]);
      expect([await isRefused(olu, taught), await isRefused(olu, '811')]).toEqual([true, false]);
    });

    it('an app reads the member’s courses from the Account API, in the member’s language', IN_TURN, async () => {
      const account = async ({ token }: Assistant) => {
        const response = await fetch(`${origin}/account/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token()}` },
          body: JSON.stringify({ query: ACCOUNT_QUERY }),
        });
        return (await response.json()) as { errors?: unknown; data: { viewer: Record<string, unknown> } };
      };
      const [sam, olu] = await assistants();
      const ofSam = await account(sam);
      expect(ofSam.errors).toBeUndefined();
      expect(ofSam.data.viewer).toMatchObject({
        id: SAM.id,
        email: SAM.email,
        name: SAM.name,
        // 21 of LearnDash and one of the filter, on two pages.
        enrolledCourses: { totalCount: 22, pageInfo: { hasNextPage: false }, nodes: { length: 22 } },
      });
      const { nodes } = ofSam.data.viewer.enrolledCourses as { nodes: unknown[] };
      expect(nodes.at(0)).toEqual({
        slug: 'baeume-blumen-oneill',
        title: 'Bäume & „Blumen“ – O’Neill',
        url: `${origin}/courses/baeume-blumen-oneill/`,
        expireDate: '2037-01-01T04:59:59Z',
        hasLifetimeAccess: false,
        progressPercent: 66.67,
        lastWatchedLecture: { lectureId: '4711', positionSeconds: 0 },
      });
      expect(nodes.at(-1)).toMatchObject({ slug: 'tides', title: `Tides of ${SAM.name}`, hasLifetimeAccess: true });
      expect(JSON.stringify(ofSam)).not.toContain('Kno');
      expect((await account(olu)).data.viewer).toMatchObject({
        id: OLU.id,
        enrolledCourses: {
          totalCount: 2,
          nodes: [
            { title: 'Knots für Olu', expireDate: null, hasLifetimeAccess: true, progressPercent: null },
            { slug: 'tides', title: `Tides of ${OLU.name}`, url: null },
          ],
        },
      });
    });

    const me = async (token: string) =>
      (await fetch(`${origin}/wp-json/coursegate/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status;

    it(
      'an app is refused on its next request after a password change, and other members’ apps are not',
      IN_TURN,
      async () => {
        const [app, other] = await assistants();
        expect(await me(app.token())).toBe(200);
        await site.run(`wp_update_user(['ID' => ${SAM.id}, 'user_pass' => '${SAM.password}']);`);
        expect(await me(app.token())).toBe(401);
        expect(await me(other.token())).toBe(200);
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
