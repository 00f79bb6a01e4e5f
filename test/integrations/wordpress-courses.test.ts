import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { type App, bearer, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { connect } from '../support/connection.ts';
import { missing } from '../support/missing.ts';
import { freePort } from '../support/world.ts';
import { COURSE_PLUGINS, LESSONS } from './wordpress-course-plugins.ts';
import { OLU, SAM, startWordpress, type WordpressSite, wordpressPresent } from './wordpress-site.ts';

const FOLDER = process.env.COURSEGATE_TEST_WORDPRESS_PLUGINS;
const CONFIG = fileURLToPath(new URL('../../integrations/wordpress/coursegate.yaml', import.meta.url));
const RECORDED = fileURLToPath(new URL('recorded/wordpress/', import.meta.url));
const MEMBER_KEY = 'm'.repeat(40);
const LONGEST = 240_000;

const QUERY =
  '{ viewer { id email enrolledCourses(first: 10) { nodes { slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }';
const DETAILS =
  '{ viewer { name enrolledCourses { totalCount nodes { slug title url progressPercent } pageInfo { hasNextPage } } } }';

/** Whether a course plugin is there. Without it, its tests are skipped by name. */
function pluginPresent(slug: string, file: string): boolean {
  if (FOLDER !== undefined && existsSync(join(FOLDER, slug, file))) return true;
  return missing(
    `the tests on ${slug}: set COURSEGATE_TEST_WORDPRESS_PLUGINS to a folder with ${slug}/${file}, ready to run`,
    true,
  );
}

/**
 * A response in the form of the recorded files, without what differs from run to run: the site's address, and times of this
 * minute.
 */
function scrubbed(body: unknown, origin: string): string {
  const now = Date.now();
  const text = JSON.stringify(body, null, 2)
    .replaceAll(origin, 'https://school.example')
    .replace(/\[\s+("\w+")\s+\]/g, '[$1]');
  return `${text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (time) =>
    Math.abs(Date.parse(time) - now) < 120_000 ? '2026-11-23T15:04:05Z' : time,
  )}\n`;
}

describe.each(COURSE_PLUGINS)('$slug', (plugin) => {
  describe.skipIf(!pluginPresent(plugin.slug, plugin.file) || !wordpressPresent())('behind the gate', () => {
    let site: WordpressSite;
    let gate: Gateway;
    let origin: string;
    let app: App;
    let [sam, olu] = ['', ''];

    /** Signs in on WordPress's login page, and connects an app. Returns its access token. */
    const tokenOf = async ({ login, password }: { login: string; password: string }) => {
      const browser = createBrowser();
      const page = await browser.open(`${origin}/wp-login.php`);
      await browser.submit(page, { log: login, pwd: password }, () => false);
      return (await connect(app, { browser })).access_token;
    };
    const get = async (path: string, token: string) => {
      const response = await fetch(origin + path, { headers: bearer(token) });
      return { status: response.status, text: await response.text() };
    };
    const ask = async (token: string, query: string) => {
      const response = await fetch(`${origin}/account/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: JSON.stringify({ query }),
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };

    beforeAll(async () => {
      const [port, adminPort] = [await freePort(), await freePort()];
      origin = `http://localhost:${port}`;
      site = await startWordpress({
        origin,
        settings: {
          COURSEGATE_ORIGIN: origin,
          COURSEGATE_KEY: MEMBER_KEY,
          COURSEGATE_ADMIN: `http://127.0.0.1:${adminPort}`,
          COURSEGATE_ADMIN_SECRET: COMMAND_SECRET,
        },
        // An option accepts only installed languages.
        plugins: { 'german.php': "<?php add_filter('pre_option_WPLANG', fn () => 'de_DE');" },
        pluginFolder: join(FOLDER ?? '', plugin.slug),
      });
      await site.run(`update_option('timezone_string', 'America/New_York');
        require_once ABSPATH . 'wp-admin/includes/plugin.php';
        $problem = activate_plugin('${plugin.slug}/${plugin.file}');
        if (is_wp_error($problem)) throw new Exception($problem->get_error_message());`);
      await site.run(plugin.school);
      const environment = { COURSEGATE_KEY: MEMBER_KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET };
      const loaded = await loadConfig({
        file: CONFIG,
        environment,
        overrides: {
          origin,
          listen: { port, admin: { port: adminPort } },
          store: { kind: 'memory' },
          upstreams: { wordpress: { url: site.url } },
        },
      });
      gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
      app = await registerApp(origin);
      [sam, olu] = [await tokenOf(SAM), await tokenOf(OLU)];
    }, LONGEST);
    afterAll(async () => {
      const complaints = site?.complaints();
      await gate?.close(1);
      await site?.close();
      expect(complaints).toEqual([]);
    });

    it('a member’s app reads when access ends and where the member stopped', async () => {
      const { trees } = plugin;
      const lessons = JSON.parse(await site.run(LESSONS));
      const { body } = await ask(sam, QUERY);
      expect(body.errors).toBeUndefined();
      const { nodes, ...connection } = body.data.viewer.enrolledCourses;
      expect({ ...body.data.viewer, enrolledCourses: connection }).toEqual({
        id: SAM.id,
        email: SAM.email,
        enrolledCourses: {},
      });
      const bySlug = nodes.toSorted((a: { slug: string }, b: { slug: string }) => a.slug.localeCompare(b.slug));
      expect(bySlug).toEqual([
        {
          slug: 'baeume-blumen-oneill',
          expireDate: trees.expireDate,
          hasLifetimeAccess: trees.hasLifetimeAccess,
          lastWatchedLecture: {
            lectureId: String(lessons[trees.lesson - 1]),
            positionSeconds: trees.positionSeconds,
          },
        },
        { slug: 'seekarten-tiden', expireDate: null, hasLifetimeAccess: true, lastWatchedLecture: null },
      ]);
    });

    it('titles are plain text, and progress is in percent', async () => {
      const { body } = await ask(sam, DETAILS);
      expect(body.errors).toBeUndefined();
      const { nodes, ...rest } = body.data.viewer.enrolledCourses;
      expect([body.data.viewer.name, rest]).toEqual([SAM.name, { totalCount: 2, pageInfo: { hasNextPage: false } }]);
      expect(nodes).toContainEqual({
        slug: 'baeume-blumen-oneill',
        title: 'Bäume & „Blumen“ – O’Neill',
        url: expect.stringMatching(/\/baeume-blumen-oneill\/$/),
        progressPercent: 33.33,
      });
      expect(nodes).toContainEqual(
        expect.objectContaining({ slug: 'seekarten-tiden', title: 'Seekarten & “Tiden”', progressPercent: 0 }),
      );
      for (const { url } of nodes) expect(new URL(url).origin).toBe(origin);
    });

    it('responds as recorded', async () => {
      for (const [path, name] of [
        ['/wp-json/coursegate/v1/me', 'me'],
        ['/wp-json/coursegate/v1/me/courses', `${plugin.slug}`],
      ]) {
        const { status, text } = await get(path as string, sam);
        expect(status).toBe(200);
        await expect(scrubbed(JSON.parse(text), origin)).toMatchFileSnapshot(`${RECORDED}${name}.json`);
      }
    });

    it('another member’s courses are never in the response', async () => {
      const own = JSON.stringify((await ask(olu, DETAILS)).body);
      expect(own).toContain('Knoten für Olu');
      expect(own).not.toContain('Seekarten');
      for (const path of ['', '?user=2', '?user_id=2&member=2', '?id=2']) {
        const { text } = await get(`/wp-json/coursegate/v1/me/courses${path}`, sam);
        expect(text).toContain('Seekarten');
        expect(text).not.toContain('Knoten');
      }
      // WordPress's own routes do not know the member of an app.
      expect((await get('/wp-json/wp/v2/users/me', sam)).status).toBe(401);
    });

    it('a changed password ends access', async () => {
      expect((await ask(sam, QUERY)).status).toBe(200);
      await site.run(`wp_update_user(['ID' => ${SAM.id}, 'user_pass' => 'another one']);`);
      expect((await ask(sam, QUERY)).status).toBe(401);
      expect((await ask(olu, QUERY)).status).toBe(200);
    });
  });
});
