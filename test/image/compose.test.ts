import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/operator/connect/connect.ts';
import { wordpressPresent } from '../integrations/wordpress-site.ts';
import { createBrowser } from '../support/browser.ts';
import { approve, offeredScopes } from '../support/member.ts';
import { postgresPresent } from '../support/postgres.ts';
import { freePort } from '../support/world.ts';
import { builtImage, type GateImage } from './support/built-image.ts';
import { composePresent, loadProject, type Project } from './support/compose.ts';
import { enginePresent } from './support/engine.ts';
import { type RunningProject, startProject } from './support/project.ts';
import { standIn } from './support/stand-ins.ts';

const LONGEST = 20 * 60_000;
const file = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const load = (names: readonly string[], environment?: Readonly<Record<string, string>>) =>
  loadProject(names.map(file), environment);
const FILES = [['compose.yaml'], ['compose.yaml', 'compose.postgres.yaml'], ['compose.wordpress.yaml']];
const SECRETS = {
  DATABASE_PASSWORD: 'd'.repeat(48),
  WORDPRESS_PASSWORD: 'w'.repeat(48),
  COURSEGATE_KEY: 'k'.repeat(48),
  COURSEGATE_ADMIN_SECRET: 'a'.repeat(48),
};

/** Connects as `coursegate connect` does, with `answer` as the member's browser. Resolves with all that it prints. */
async function connected(origin: string, answer: (url: string, redirectUri: string) => Promise<URL>): Promise<string> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const open = async (url: string) => {
    const back = await answer(url, new URL(url).searchParams.get('redirect_uri') ?? '');
    expect((await fetch(back)).status).toBe(200);
  };
  await connect({ url: origin, print, result: print, open });
  return lines.join('\n');
}

describe.skipIf(!composePresent())('the Compose files', () => {
  it.each(FILES.map((names) => [names.join(' and '), names] as const))(
    '%s is valid, and pulls or builds our image',
    async (_, names) => {
      const { services } = await load(names, SECRETS);
      const ours = Object.values(services).filter(({ build }) => build !== undefined);
      expect(ours.map(({ image, build }) => [image, build])).toEqual([
        ['coursegate:0.1.0', { context: file('.').replace(/\/$/, ''), dockerfile: 'Dockerfile' }],
      ]);
      const named = await load(names, {
        ...SECRETS,
        COURSEGATE_IMAGE: 'registry.example/coursegate@sha256:aa',
      });
      expect(Object.values(named.services).map(({ image }) => image)).toContain(
        'registry.example/coursegate@sha256:aa',
      );
    },
  );

  it('publish ports to this machine only', async () => {
    for (const names of FILES) {
      const { services } = await load(names, SECRETS);
      const ports = Object.values(services).flatMap(({ ports = [] }) => ports);
      expect(new Set(ports.map(({ host_ip }) => host_ip))).toEqual(new Set(['127.0.0.1']));
    }
  });

  it.each(Object.keys(SECRETS))('asks for %s', async (name) => {
    const loading = load(['compose.wordpress.yaml'], { ...SECRETS, [name]: '' });
    await expect(loading).rejects.toThrow(
      `required variable ${name} is missing a value: is not set; the first lines of`,
    );
  });
});

describe.skipIf(!enginePresent() || !composePresent())('docker compose up', () => {
  let image: GateImage;
  beforeAll(async () => {
    image = await builtImage();
  }, LONGEST);

  const demos = [
    { name: 'the demo', names: ['compose.yaml'], order: ['demo'] },
    { name: 'the demo on PostgreSQL', names: ['compose.yaml', 'compose.postgres.yaml'], order: ['database', 'demo'] },
  ];
  for (const { name, names, order } of demos)
    describe.skipIf(order.includes('database') && !postgresPresent())(`with ${name}`, () => {
      let folder: string;
      let demo: RunningProject;
      let ports: readonly [number, number, number];
      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'coursegate-stand-ins-'));
        ports = [await freePort(), await freePort(), await freePort()];
        const [PORT, CLIENT_PORT, ADMIN_PORT] = ports.map(String) as [string, string, string];
        // Its user must be able to enter its root, which the folder itself does not let it.
        mkdirSync(join(folder, 'postgres'));
        const postgres = standIn(join(folder, 'postgres'), 'start-postgres', '/');
        demo = await startProject(await load(names, { PORT, CLIENT_PORT, ADMIN_PORT }), (service) =>
          service.image.startsWith('postgres:') ? postgres : image,
        );
      }, LONGEST);
      afterAll(async () => {
        await demo?.close();
        rmSync(folder, { recursive: true, force: true });
      });

      it('starts each service when those that it needs are ready', () => {
        expect(demo.order).toEqual(order);
      });

      it('shows the school, the app and the console to this machine', async () => {
        const pages = ports.map(async (port, at) =>
          (await fetch(`http://localhost:${port}${at === 2 ? '/console' : ''}`)).text(),
        );
        const [school, app, console] = (await Promise.all(pages)) as [string, string, string];
        expect(school).toContain('Harbour Lane School');
        expect(app).toContain('Study Buddy');
        expect(console).toContain('Harbour Lane School console');
      });

      it('lets a member connect', async () => {
        const told = await connected(`http://localhost:${ports[0]}`, (url, redirectUri) => approve(url, redirectUri));
        expect(told).toContain('student@example.com');
      });
    });

  describe.skipIf(!wordpressPresent())('with WordPress', () => {
    let folder: string;
    let site: RunningProject;
    let origin: string;
    let project: Project;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'coursegate-stand-ins-'));
      const port = await freePort();
      origin = `http://localhost:${port}`;
      project = await load(['compose.wordpress.yaml'], { ...SECRETS, PORT: String(port) });
      for (const name of ['wordpress', 'mariadb']) mkdirSync(join(folder, name));
      const images = {
        wordpress: standIn(join(folder, 'wordpress'), 'start-wordpress', '/var/www/html'),
        mariadb: standIn(join(folder, 'mariadb'), 'start-mariadb', '/'),
        coursegate: image,
      };
      site = await startProject(project, (service) => {
        const name = /^(?:docker\.io\/library\/)?(\w+):/.exec(service.image)?.[1];
        return images[name as keyof typeof images];
      });
    }, LONGEST);
    afterAll(async () => {
      await site?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('starts each service when those that it needs are ready', () => {
      expect(site.order).toEqual(['database', 'wordpress', 'installer', 'coursegate']);
      expect(site.output('installer')).toBe('WordPress is installed.\n');
    });

    it('passes every check of doctor in the container', async () => {
      const config = ['--config', '/etc/coursegate/wordpress/coursegate.yaml'];
      // No test asks the internet.
      const skip = ['--skip', 'gate.client-documents'];
      const program = ['coursegate', 'doctor', `${origin}/mcp`, ...config, ...skip, '--member', '2', '--register'];
      const { code, stdout } = await site.exec('coursegate', program);
      expect([code, stdout]).toEqual([0, expect.stringContaining(': 0 failures, 0 warnings, ')]);
    });

    it('lets a member sign in on wp-login.php and connect', async () => {
      const told = await connected(origin, async (url, redirectUri) => {
        const browser = createBrowser();
        const login = await browser.open(url);
        expect(new URL(login.url).pathname).toBe('/wp-login.php');
        const consent = await browser.submit(login, { log: 'student', pwd: SECRETS.WORDPRESS_PASSWORD });
        const scope = offeredScopes(consent);
        const last = await browser.submit(consent, { decision: 'approve', scope }, (to) => !to.startsWith(redirectUri));
        return new URL(last.location ?? '');
      });
      expect(told).toContain('student@school.example');
    });

    it('tells the gate when a member’s password changes', async () => {
      const change = "require 'wp-load.php'; wp_update_user(['ID' => 2, 'user_pass' => 'another']); echo 'changed';";
      expect(await site.exec('wordpress', ['php', '-r', change])).toEqual({ code: 0, stdout: 'changed', stderr: '' });
    });
  });
});
