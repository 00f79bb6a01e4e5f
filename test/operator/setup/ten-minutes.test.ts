import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../../src/operator/setup/init/init.ts';
import { type Backend, type Framework, frameworkPresent, startBackend } from '../../integrations/contract/backend.ts';
import { DJANGO, EXPRESS, LARAVEL, RAILS, SPRING } from '../../integrations/contract/frameworks.ts';
import { SAM, startWordpress, type WordpressSite, wordpressPresent } from '../../integrations/wordpress-site.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { type Command, runCommand } from '../../support/command.ts';
import { type HttpServer, serverPresent, startConfigured } from '../../support/http-server.ts';
import { offeredScopes } from '../../support/member.ts';
import { freePort } from '../../support/world.ts';

const LONGEST = 180_000;
const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

/** The commands of the README's ten-minute guide, in order, without `npx coursegate`. */
const COMMANDS = (/## Ten minutes\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(README)?.[1] ?? '')
  .split('\n')
  .flatMap((line) => /^npx coursegate ([^#]*)/.exec(line)?.[1]?.trim() ?? [])
  .map((line) => line.split(/\s+/));

/** Debian's WordPress behind nginx, set up only with the README's commands. */
describe.skipIf(!wordpressPresent() || !serverPresent('nginx'))('ten minutes with WordPress', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coursegate-ten-minutes-'));
  let site: WordpressSite;
  let front: HttpServer;
  let gate: Command;
  let origin: string;
  let gatePort: number;
  let adminPort: number;

  /** A command of the README, for this site. */
  const run = (name: string, environment: Record<string, string> = {}) => {
    const found = COMMANDS.find(([first]) => first === name);
    if (found === undefined) throw new Error(`The README has no ${name} in its ten minutes.`);
    const args = found.map((word) =>
      word
        .replace('http://127.0.0.1:8000', site.url)
        .replace('https://school.example', origin)
        .replace(/^coursegate\.yaml$/, join(dir, 'coursegate.yaml')),
    );
    if (name === 'init') args.push('--dir', dir, '--port', String(gatePort));
    // No test asks the internet.
    if (name === 'doctor') args.push('--skip', 'gate.client-documents');
    return runCommand(args, environment);
  };

  beforeAll(async () => {
    const port = await freePort();
    gatePort = await freePort();
    adminPort = await freePort();
    origin = `http://localhost:${port}`;
    site = await startWordpress({ origin, settings: {} });

    const looked = run('init');
    expect([await looked.exited, looked.stderr()]).toEqual([0, expect.stringMatching(/Framework: wordpress/)]);
    // 1. Install the drop-in.
    const plugins = join((await site.run('echo ABSPATH;')).trim(), 'wp-content/mu-plugins');
    copyFileSync(join(dir, 'drop-in/coursegate.php'), join(plugins, 'coursegate.php'));
    // 2. Route the paths, and start the gate.
    front = await startConfigured(
      'nginx',
      port,
      (folder) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  server {
    listen 127.0.0.1:${port};
    include ${dir}/proxy/nginx.conf;
    location / { proxy_pass ${site.url}; proxy_set_header Host $http_host; }
  }
}`,
    );
    gate = run('serve', { ADMIN_PORT: String(adminPort) });
    await gate.line(/^coursegate ready/);
  }, LONGEST);
  afterAll(async () => {
    gate?.signal('SIGTERM');
    await gate?.exited;
    await front?.close();
    await site?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('end with nothing for the doctor to report, from outside and from the side of the gate', {
    timeout: LONGEST,
  }, async () => {
    const doctor = run('doctor', { ADMIN_PORT: String(adminPort) });
    expect([await doctor.exited, doctor.stdout()]).toEqual([0, expect.stringMatching(/: 0 failures, 0 warnings, /)]);
    expect(doctor.stdout()).toMatch(/^✓ Assertions: 4 checks passed$/m);
  });

  it('end with an app that a member connects at wp-login.php', {
    timeout: LONGEST,
  }, async () => {
    const app = await registerApp(origin);
    const request = await authorizationRequest(app, { scope: 'openid account:read' });
    const browser = createBrowser();
    const login = await browser.open(request.url);
    expect(login.url).toContain('/wp-login.php');
    const consent = await browser.submit(login, { log: SAM.login, pwd: SAM.password });
    expect(consent.text).toContain('id="consent"');
    const fields = { decision: 'approve', scope: offeredScopes(consent) };
    const last = await browser.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    const { access_token: token } = await redeem(app, request, new URL(last.location ?? ''));

    const me = await fetch(`${origin}/wp-json/coursegate/v1/me`, { headers: bearer(token) });
    expect([me.status, await me.json()]).toEqual([200, expect.objectContaining({ email: SAM.email })]);
    expect((await fetch(`${origin}/wp-json/coursegate/v1/me`)).status).toBe(401);
    // All other requests go to the site unchanged, with or without a token.
    const home = await fetch(origin, { headers: bearer(token) });
    expect([home.status, home.headers.get('x-request-id')]).toEqual([200, null]);
  });
});

describe.each([DJANGO, RAILS, LARAVEL, EXPRESS, SPRING].map((framework) => [framework.name, framework] as const))(
  'a real %s application',
  (name: string, framework: Framework) => {
    const isThere = frameworkPresent(framework);
    const dir = mkdtempSync(join(tmpdir(), 'coursegate-real-'));
    let backend: Backend;
    beforeAll(async () => {
      if (!isThere) return;
      const secret = 'between the gate and the backend, and nobody else';
      const gate = { origin: 'https://school.example', upstream: 'x', secret, jwksUrl: 'http://127.0.0.1:1/jwks' };
      backend = await startBackend(framework, gate);
    }, LONGEST);
    afterAll(async () => {
      await backend?.close();
      rmSync(dir, { recursive: true, force: true });
    });

    it.runIf(isThere)('is detected correctly', { timeout: LONGEST }, async () => {
      const told: string[] = [];
      await init({
        upstream: backend.url,
        dir,
        port: 8080,
        force: false,
        site: false,
        observe: false,
        tell: (line) => void told.push(line),
        agree: async () => true,
      });
      expect(told.join('\n')).toMatch(new RegExp(`Framework: (probably )?${name.toLowerCase()}`));
    });
  },
);
