import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request as plainRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { createLog } from '../../../src/operations/log.ts';
import { type School, startSchool } from '../../../src/operator/demo/school.ts';
import { init } from '../../../src/operator/setup/init/init.ts';
import { gatePaths, oneExpression } from '../../../src/operator/setup/snippets/gate-paths.ts';
import { type Gateway, startGateway } from '../../../src/process/gateway.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../../support/app.ts';
import { runCommand } from '../../support/command.ts';
import { type HttpServer, serverPresent, startConfigured } from '../../support/http-server.ts';
import { approve } from '../../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import { freePort } from '../../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));

/** The demo's configuration for a gate that gets only its own paths, written to a folder. Returns the file. */
function writeWithoutSite(folder: string, origin: string, more: readonly object[] = []): string {
  const { site: _, ...demo } = parse(readFileSync(CONFIG, 'utf8'));
  const { account, pages, mcp, login } = demo;
  const at = (path: string) => resolve(CONFIG, '..', path);
  const file = join(folder, 'without-site.yaml');
  const config = {
    ...demo,
    origin,
    login: { ...login, loginUrl: `${origin}/login` },
    pages: { ...pages, logo: at(pages.logo) },
    account: {
      ...account,
      schema: at(account.schema),
      mappings: at(account.mappings),
      upstreamSchemas: { events: at(account.upstreamSchemas.events) },
    },
    mcp: { ...mcp, file: at(mcp.file), skills: at(mcp.skills) },
    routes: [...demo.routes, ...more],
  };
  writeFileSync(file, stringify(config));
  return file;
}

/** A route that would refuse what pages call. */
const WORDPRESS = { match: 'GET /wp-json/ldlms/v2/**', upstream: 'school', scopes: ['courses:read'] };

/** An operator's web server, with the output of `snippets` added and nothing else changed. */
const SITES = {
  nginx: (folder: string, port: number, site: string, snippet: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  server {
    listen 127.0.0.1:${port};
    include ${snippet};
    location ~ \\.php$ { return 418; }
    location / { proxy_pass ${site}; proxy_set_header Host $http_host; }
  }
}`,
  apache2: (folder: string, port: number, site: string, snippet: string) => `
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}/tmp
${['mpm_event', 'authz_core', 'authn_core', 'proxy', 'proxy_http', 'headers']
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join('\n')}
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
StartServers 1
ServerLimit 2
ThreadsPerChild 16
MaxRequestWorkers 32
Include ${snippet}
ProxyPreserveHost On
ProxyPass / ${site}/
`,
  caddy: (_folder: string, port: number, site: string, snippet: string) => `
{
	admin off
	auto_https off
	grace_period 1s
}
http://localhost:${port} {
	bind 127.0.0.1
	import ${snippet}
	reverse_proxy ${site}
}
`,
} as const;

type Front = keyof typeof SITES;
/** The same servers, with the file of a gate that gets everything, in place of the lines that lead to the site. */
const EVERYTHING: Record<Front, (folder: string, port: number, snippet: string) => string> = {
  nginx: (folder, port, snippet) =>
    SITES.nginx(folder, port, '', snippet).replace(/\n {4}location [\s\S]*?\n {2}\}\n\}$/, '\n  }\n}'),
  apache2: (folder, port, snippet) => SITES.apache2(folder, port, '', snippet).replace(/\nProxyPass .*\n/, '\n'),
  caddy: (folder, port, snippet) => SITES.caddy(folder, port, '', snippet).replace(/\n\treverse_proxy .*\n/, '\n'),
};
const FILE: Record<Front, string> = { nginx: 'nginx.conf', apache2: 'apache.conf', caddy: 'Caddyfile' };
const FOR: Record<Front, string> = { nginx: 'nginx', apache2: 'apache', caddy: 'caddy' };
const CHECKED: Record<Front, (file: string) => readonly [string, ...string[]]> = {
  nginx: (file) => ['/usr/sbin/nginx', '-t', '-c', file],
  apache2: (file) => ['/usr/sbin/apache2', '-t', '-f', file],
  caddy: (file) => ['/usr/bin/caddy', 'validate', '--adapter', 'caddyfile', '--config', file],
};

describe.each(Object.keys(SITES) as Front[])('%s with the printed configuration', (name) => {
  const isThere = serverPresent(name);
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-front-'));
  const accessLog = join(folder, 'access.log');
  let school: School;
  let gateway: Gateway;
  let front: HttpServer;
  let origin: string;
  let descriptor: number;
  let said: string;
  let token: string;
  let held: Server;

  beforeAll(async () => {
    if (!isThere) return;
    const port = await freePort();
    const gatePort = await freePort();
    origin = `http://localhost:${port}`;
    school = await startSchool({
      ports: { school: 0, progress: 0, events: 0 },
      gate: () => ({ issuer: origin, jwksUrl: `http://127.0.0.1:${gatePort}/.well-known/jwks.json` }),
    });
    const { urls } = school;
    // One event and then nothing: if it were buffered, it would never arrive.
    held = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: first\n\n');
    });
    await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
    const heldUrl = `http://127.0.0.1:${(held.address() as AddressInfo).port}`;
    // Like an operator's file: the routes of the demo, and one with a wildcard in the middle.
    const environment = {
      COURSEGATE__STORE__PATH: join(folder, 'gate.db'),
      COURSEGATE__LISTEN__PORT: String(gatePort),
      ADMIN_PORT: '0',
    };
    const file = writeWithoutSite(folder, origin);
    const overrides = {
      listen: { port: gatePort, trustedProxies: ['127.0.0.1'] },
      store: { kind: 'memory' },
      routes: parse(readFileSync(CONFIG, 'utf8')).routes.map((route: { match: string }) =>
        route.match === 'GET /api/v1/events/**' ? { ...route, upstream: 'events' } : route,
      ),
      upstreams: { school: { url: urls.school }, progress: { url: urls.progress }, events: { url: heldUrl } },
      log: { access: true },
    };
    const loaded = await loadConfig({ file, environment: { ADMIN_PORT: '0' }, overrides });
    descriptor = openSync(accessLog, 'a');
    const log = createLog('silent', 2);
    gateway = await startGateway({ loaded, log, clock: Date.now, accessDescriptor: descriptor });

    const printed = runCommand(['snippets', '--config', file, '--for', FOR[name]], environment);
    expect(await printed.exited).toBe(0);
    said = printed.stderr();
    const snippet = join(folder, 'coursegate.conf');
    writeFileSync(snippet, printed.stdout());
    front = await startConfigured(name, port, (inner) => {
      const text = SITES[name](inner, port, urls.school, snippet);
      writeFileSync(join(folder, 'whole.conf'), text);
      return text;
    });

    const app = await registerApp(origin);
    const request = await authorizationRequest(app, { scope: 'openid courses:read events:read' });
    const returned = await approve(request.url, app.redirectUri);
    token = (await redeem(app, request, returned)).access_token;
  });
  afterAll(async () => {
    if (isThere) {
      await front?.close();
      await gateway?.close(0);
      await school?.close();
      held?.close();
      held?.closeAllConnections();
      if (descriptor !== undefined) closeSync(descriptor);
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it.runIf(isThere)('passes the server’s own configuration check', async () => {
    const { execFile } = await import('node:child_process');
    const [program, ...args] = CHECKED[name](join(folder, 'whole.conf'));
    const code = await new Promise((resolve) => {
      execFile(program, args, { env: { ...process.env, XDG_DATA_HOME: folder } }, (error) => resolve(error?.code ?? 0));
    });
    expect(code).toBe(0);
  });

  it.runIf(isThere)('lets a member sign in on the site’s own page and connect an app', async () => {
    const answer = await fetch(`${origin}/api/v1/courses`, { headers: bearer(token) });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toHaveProperty('data');
  });

  it.runIf(isThere)('serves the site itself, without the gate', async () => {
    const home = await fetch(origin);
    expect(home.status).toBe(200);
    expect(home.headers.get('x-request-id')).toBeNull();
    await home.text();
    expect((await fetch(`${origin}/api/v1/courses/1`)).status).toBe(401);
  });

  it.runIf(isThere)('sends every address of the gate to the gate', async () => {
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/jwks.json',
      '/auth.md',
      '/openapi.json',
      '/oauth/apps',
      '/oauth/assets/pages.css',
      '/api/oauth/token',
      '/account/graphql',
      '/mcp',
      '/mcp/member/',
    ]) {
      const answer = await fetch(origin + path, { redirect: 'manual' });
      await answer.arrayBuffer();
      expect([path, answer.headers.has('x-request-id')]).toEqual([path, true]);
    }
  });

  it.runIf(isThere)('sends paths to the gate unchanged, with the client’s address', async () => {
    const [{ port }] = [new URL(origin)];
    const status = await new Promise((resolve, reject) => {
      const sent = plainRequest(
        {
          host: '127.0.0.1',
          port,
          path: '/api/v1/courses/a%20b',
          localAddress: '127.0.0.7',
          headers: { host: `localhost:${port}`, 'x-forwarded-for': '203.0.113.9' },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode));
        },
      );
      sent.on('error', reject);
      sent.end();
    });
    expect(status).toBe(401);
    const line = () =>
      readFileSync(accessLog, 'utf8')
        .split('\n')
        .find((one) => one.includes('"path":"/api/v1/courses/a%20b"'));
    await expect.poll(line, { timeout: 20_000 }).toBeDefined();
    expect(JSON.parse(line() ?? '{}')).toMatchObject({ address: '127.0.0.7' });
  });

  it.runIf(isThere)('passes on an event stream without buffering', async () => {
    const stop = new AbortController();
    const answer = await fetch(`${origin}/api/v1/events/1`, {
      headers: { ...bearer(token), accept: 'text/event-stream' },
      signal: stop.signal,
    });
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const first = await answer.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('data: first');
    stop.abort();
  });

  it.runIf(isThere)('lets no one identify a member to the site except the gate', async () => {
    const answer = await fetch(`${origin}/api/v1/whoami`, { headers: { 'x-member-id': '1', 'x-client-id': 'x' } });
    expect([400, 401]).toContain(answer.status);
    const site = await fetch(`${origin}/api/me`, { headers: { 'x-member-id': '1' } });
    expect([400, 401]).toContain(site.status);
  });

  it.runIf(isThere)('comes with a note on trustedProxies', () => {
    expect(said).toMatch(/trustedProxies: \[loopback\]/);
  });
});

describe.each(Object.keys(SITES) as Front[])('%s with the file that `init --observe` writes', (name) => {
  const isThere = serverPresent(name);
  const dir = mkdtempSync(join(tmpdir(), 'coursegate-observed-front-'));
  let site: RecordingUpstream;
  let gateway: Gateway;
  let front: HttpServer;
  let origin: string;

  beforeAll(async () => {
    if (!isThere) return;
    const [port, gatePort] = [await freePort(), await freePort()];
    origin = `http://localhost:${port}`;
    site = await startRecordingUpstream();
    site.onUpgrade(
      (_request, socket) =>
        void socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'),
    );
    await init({
      ...{ upstream: site.url, origin, dir, port: gatePort, force: false, framework: 'generic' },
      ...{ site: false, observe: true, tell: () => undefined, agree: async () => true },
    });
    const file = join(dir, 'coursegate.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('FILL-IN', 'filled-in'));
    const overrides = { store: { kind: 'memory' }, listen: { admin: { port: 0 } } };
    const loaded = await loadConfig({ file, environment: {}, overrides });
    gateway = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    front = await startConfigured(name, port, (inner) => EVERYTHING[name](inner, port, join(dir, 'proxy', FILE[name])));
  });
  afterAll(async () => {
    if (isThere) {
      await front?.close();
      await gateway?.close(0);
      await site?.close();
    }
    rmSync(dir, { recursive: true, force: true });
  });

  it.runIf(isThere)('sends every request to the gate, which passes it on and observes it', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', '/index.php?page=2'],
      ['POST', '/api/courses'],
      ['GET', '/api/oauthx'],
    ] as const) {
      const answer = await fetch(origin + path, { method });
      await answer.arrayBuffer();
      expect([path, answer.status, answer.headers.has('x-request-id')]).toEqual([path, 200, true]);
      expect([site.last().method, site.last().target]).toEqual([method, path]);
    }
    expect((await fetch(`${origin}/.well-known/oauth-authorization-server`)).headers.get('content-type')).toMatch(
      /json/,
    );
    const counted = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/observed.json`)).json();
    expect((counted as { observed: { path: string }[] }).observed.map(({ path }) => path)).toEqual([
      '/',
      '/api/courses',
      '/api/oauthx',
      '/index.php',
    ]);
  });

  it.runIf(isThere)('passes a WebSocket of the site on', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'x',
    };
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = plainRequest(`${origin}/socket`, { headers });
      sent.on('upgrade', (response, socket, head) => {
        socket.destroy();
        resolve(`${response.statusCode} ${head}`);
      });
      sent.on('response', (response) => resolve(String(response.statusCode)));
      sent.on('error', reject);
      sent.end();
    });
    expect(answer).toMatch(/^101/);
  });
});

describe('the printed Traefik configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-traefik-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const print = async (file: string) => {
    const printed = runCommand(['snippets', '--config', file, '--for', 'traefik', '--gate', 'gate.internal:8080']);
    expect(await printed.exited).toBe(0);
    return { ...parse(printed.stdout()), said: printed.stderr() };
  };

  it('has one rule for every path of the host if the whole site goes through the gate', async () => {
    const { http } = await print(CONFIG);
    expect(http.routers.coursegate.rule).toBe('Host(`localhost`) && PathRegexp(`^(/.*)$`)');
  });

  it('is YAML for its file provider, with one rule for the gate’s paths', async () => {
    const { http, said } = await print(writeWithoutSite(folder, 'http://localhost:8080', [WORDPRESS]));
    expect(said).toMatch(/routes\[\d+\]\.match takes over an address that is called by the pages of WordPress/);
    expect(http.services.coursegate.loadBalancer.servers).toEqual([{ url: 'http://gate.internal:8080' }]);
    const { rule, service } = http.routers.coursegate;
    expect(service).toBe('coursegate');
    const [, host, expression] = /^Host\(`([^`]+)`\) && PathRegexp\(`([^`]+)`\)$/.exec(rule) ?? [];
    expect(host).toBe('localhost');
    const takes = new RegExp(expression ?? 'x^');
    for (const path of ['/mcp', '/mcp/member', '/oauth/apps', '/api/oauth/token', '/api/v1/courses/7', '/auth.md'])
      expect([path, takes.test(path)]).toEqual([path, true]);
    for (const path of ['/', '/login', '/mcpx', '/authXmd', '/api/v1/coursesx', '/api/v2', '/x/oauth/'])
      expect([path, takes.test(path)]).toEqual([path, false]);
  });
});

/** Whether a rule of Traefik takes a request, by its method and its decoded path. */
function ruleOf(rule: string): (method: string, path: string) => boolean {
  const parts = [...rule.matchAll(/(Method\(`OPTIONS`\) && )?PathRegexp\(`\(\?is\)(.*?)`\)/g)].map(
    ([, options, expression = '']) => ({ options, paths: new RegExp(expression.replaceAll('\\x{', '\\u{'), 'ius') }),
  );
  return (method, path) =>
    parts.length === 0 ||
    parts.some(({ options, paths }) => (options === undefined || method === 'OPTIONS') && paths.test(path));
}

describe('the files of gateways that ask and forward requests themselves', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-plugin-files-'));
  const file = join(folder, 'coursegate.yaml');
  const SECRET = 'gateways/only+0123456789abcdef==';
  const write = (decisions: unknown, more: object = {}) =>
    writeFileSync(
      file,
      stringify({
        version: 1,
        profile: 'B',
        anonymous: 'refuse',
        origin: 'https://school.example',
        listen: { decisions },
        store: { kind: 'memory' },
        login: {
          kind: 'session',
          upstream: 'school',
          whoami: { path: '/me' },
          loginUrl: 'https://school.example/login',
          cookies: ['school'],
        },
        upstreams: {
          school: { url: 'http://127.0.0.1:8000' },
          'far-away': { url: 'https://api.far.example', headers: { request: { allow: ['X-Extra'], drop: ['Range'] } } },
        },
        routes: [
          { match: 'GET /api/courses/*', upstream: 'far-away', scopes: ['courses:read'], forwardedBy: 'gateway' },
          { match: 'POST /api/orders/*', upstream: 'school', scopes: ['courses:read'], bodyLimit: '20MiB' },
          { match: 'GET /api/x/y', upstream: 'school', scopes: ['courses:read'], forwardedBy: 'gateway' },
          { match: '* /api/x/**', upstream: 'school', scopes: ['courses:read'], forwardedBy: 'gateway' },
        ],
        ...more,
      }),
    );
  const print = async (...args: string[]) => {
    const command = runCommand(['snippets', '--config', file, ...args], { DECISION_SECRET: SECRET });
    return { code: await command.exited, stdout: command.stdout(), stderr: command.stderr() };
  };
  const OVER_TCP = { address: '127.0.0.1:9092', secret: { env: 'DECISION_SECRET' } };
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('for nginx have no word that is longer than nginx reads, however many routes there are', async () => {
    const route = (at: number, forwardedBy: string) => ({
      match: `GET /api/v1/area-${at}/things/**`,
      upstream: 'school',
      scopes: ['courses:read'],
      forwardedBy,
    });
    const routes = Array.from({ length: 120 }, (_, at) => route(at, at % 2 === 0 ? 'gateway' : 'coursegate'));
    write(OVER_TCP, { routes });
    const { stdout } = await print('--for', 'nginx-auth');
    for (const at of [0, 58, 118]) expect(stdout).toContain(`/area-${at}/things`);
    const words = stdout.match(/"(?:[^"\\]|\\.)*"/g) ?? [];
    expect(words.length).toBeGreaterThan(60);
    expect(Math.max(...words.map((word) => Buffer.byteLength(word)))).toBeLessThan(4096);
  });

  it('for nginx are two, printed one after the other or written to a folder', async () => {
    write(OVER_TCP);
    const { code, stdout, stderr } = await print('--for', 'nginx-auth');
    expect(code).toBe(0);
    expect(stdout.match(/^==> .* <==$/gm)).toEqual(['==> coursegate-http.conf <==', '==> coursegate.conf <==']);
    // The first line that matches the target.
    const [, body = ''] = /map \$request_uri \$coursegate_to \{\n([\s\S]*?)\n\}/.exec(stdout) ?? [];
    const lines = [...body.matchAll(/^ {4}"~\*?(\^.*)" (\w+|"");$/gm)].map(([, expression = '', to]) => ({
      expression: new RegExp(expression.replaceAll(/\\(["\\])/g, '$1'), 'i'),
      to: to === '""' ? 'site' : to,
    }));
    const to = (target: string) => lines.find(({ expression }) => expression.test(target))?.to;
    for (const [expected, targets] of [
      ['to_far_away_0', ['/api/courses/1', '/API/Courses/1?x', '/api/courses/1/']],
      ['to_school', ['/api/x', '/api/x/y', '/API/x/y/z', '/api/x?a=//b;c']],
      ['gate', ['/oauth/apps', '/api/oauth/token', '/api/orders/1', '/openapi.json', '/.well-known/jwks.json']],
      ['gate', ['/api;a=b/x/z', '/a/..;/api/x', '/api/x%20/y', '/API/x./y', '/\\api/x', '/api/x%00', '/api\\x/y']],
      ['gate', ['/%61pi/x', '/api%2fx', '//api/x', '/api/./x', '/x%25y', '/x#y', '/x%', '/x\xe9', '/%e2%80%8b']],
      ['site', ['/', '/api/courses', '/api/xs', '/.well-known/x', '/a..b/c', '/caf%C3%A9', '/a%20b', '/.coursegate/x']],
    ] as const)
      expect(targets.map((target) => [target, to(target)])).toEqual(targets.map((target) => [target, expected]));
    expect(body).toMatch(/^ {4}default gate;$/m);
    expect(stdout).toContain('client_max_body_size 10485760;');
    expect(stdout).toContain('proxy_ssl_name api.far.example;');
    const [far = ''] = /location = \/\w+\/to_far_away_0 \{[\s\S]*?\n {8}\}/.exec(stdout) ?? [];
    expect(far).toContain('proxy_set_header x-extra $http_x_extra;');
    expect(far).not.toContain('$http_range');
    expect(stderr).toContain('contains the secret');
    const written = await print('--for', 'nginx-auth', '--dir', join(folder, 'nginx'));
    expect(written.stdout).toBe(
      ['coursegate-http.conf', 'coursegate.conf'].map((name) => `${join(folder, 'nginx', name)}\n`).join(''),
    );
    expect(stdout).toContain(readFileSync(join(folder, 'nginx/coursegate-http.conf'), 'utf8'));
    // The internal locations have another name each time.
    const nameIn = (text: string) => /location \^~ \/([0-9a-f]{16})\/ \{/.exec(text)?.[1] ?? '';
    const again = readFileSync(join(folder, 'nginx/coursegate.conf'), 'utf8');
    expect(nameIn(again)).not.toBe(nameIn(stdout));
    expect(stdout).toContain(again.replaceAll(nameIn(again), nameIn(stdout)));
  });

  it('for nginx say what docs/plugin-mode.md quotes of them', async () => {
    const page = readFileSync(new URL('../../../docs/plugin-mode.md', import.meta.url), 'utf8');
    const blocks = (language: string) =>
      [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);
    const { routes, site } = parse(blocks('yaml')[0] ?? '');
    write({ address: 'unix:/run/coursegate/decisions.sock' }, { routes, site });
    const { stdout } = await print('--for', 'nginx-auth');
    expect(stdout).toMatch(
      / server unix:\/run\/coursegate\/decisions\.sock; keepalive 64; } # The user of nginx has to be in/,
    );
    const lines = stdout.replaceAll(/\/[0-9a-f]{16}\//g, '/RANDOM/').split('\n');
    const quotes = blocks('text').flatMap((text) => text.trimEnd().split('\n'));
    expect(quotes.length).toBeGreaterThan(20);
    expect(quotes.filter((line) => !lines.includes(line))).toEqual([]);
    // Both files for one protected path, with their comments, and without the lines that separate them in this output.
    expect(stdout.split('\n').filter((line) => !line.startsWith('==>')).length).toBeLessThanOrEqual(112);
  });

  it('for nginx tell backends who the member is in plain fields only from 1.23 on', async () => {
    write(OVER_TCP);
    const plain = await print('--for', 'nginx-auth');
    expect(plain.stdout).toMatch(
      /^# coursegate school\.example\/[\w-]{16}: for https:\/\/school\.example, written by /m,
    );
    expect(plain.stderr).toContain('nginx before 1.23');
    expect(plain.stdout).not.toMatch(/unix:|The user of nginx/);
    const [, versions = ''] = /map \$nginx_version .* "~(.*)" 1; \}/.exec(plain.stdout) ?? [];
    const isOld = (version: string) => new RegExp(versions).test(version);
    expect(['0.8.55', '1.2.9', '1.9.1', '1.18.0', '1.20.2', '1.22.1'].every(isOld)).toBe(true);
    expect(['1.23.0', '1.24.0', '1.26.3', '1.31.3', '2.0.1', '10.2.0'].some(isOld)).toBe(false);
    const identity = ['assertion'];
    const upstreams = {
      school: { url: 'http://127.0.0.1:8000', identity },
      'far-away': { url: 'https://api.far.example', identity },
    };
    write(OVER_TCP, { upstreams });
    const signed = await print('--for', 'nginx-auth');
    expect(signed.stderr).not.toContain('nginx before');
    expect(signed.stdout).not.toMatch(
      /nginx_version|\$coursegate_forged|\$http_x_(member|client)|set_header X-(Member|Client)-/,
    );
    expect(signed.stdout).toContain('proxy_set_header X-Coursegate-Assertion $coursegate_assertion;');
  });

  it('for HAProxy have a section for each upstream, and no two of one name, which 3.3 refuses', async () => {
    write(OVER_TCP);
    const { stdout } = await print('--for', 'haproxy');
    const names = [...stdout.matchAll(/^(?:defaults|frontend|backend) (\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining(['site', 'coursegate_to_school', 'coursegate_to_far_away_0']));
    const [far = ''] = /^backend coursegate_to_far_away_0 [\s\S]*?(?=^backend |^==> )/m.exec(stdout) ?? [];
    expect(far).toContain('server far_away_0 api.far.example:443 ssl verify required');
    expect(far).toMatch(/del-header '\^\(\?!.*\|x-extra\)\$\)' -m reg/);
    expect(far).not.toContain('|range|');
    expect(stdout).toContain("local ADDRESS = { '127.0.0.1', 9092 }");
    expect(stdout).toContain(`'X-Coursegate-Secret: ${SECRET}',`);
  });

  it('are readable for the owner and the group only, whatever was there', async () => {
    write(OVER_TCP);
    const [to, elsewhere] = [join(folder, 'again'), join(folder, 'elsewhere')];
    await print('--for', 'nginx-auth', '--dir', to);
    const mode = (name: string) => lstatSync(join(to, name)).mode & 0o777;
    expect(mode('coursegate.conf')).toBe(0o640);
    chmodSync(join(to, 'coursegate.conf'), 0o644);
    writeFileSync(elsewhere, 'mine', { mode: 0o644 });
    rmSync(join(to, 'coursegate-http.conf'));
    symlinkSync(elsewhere, join(to, 'coursegate-http.conf'));
    expect((await print('--for', 'nginx-auth', '--dir', to)).code).toBe(0);
    for (const name of ['coursegate.conf', 'coursegate-http.conf'])
      expect([name, lstatSync(join(to, name)).isFile(), mode(name)]).toEqual([name, true, 0o640]);
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(readdirSync(to).toSorted()).toEqual(['coursegate-http.conf', 'coursegate.conf']);
  });

  it('for Traefik are YAML for its file provider: remove, ask, forward', async () => {
    write(OVER_TCP);
    const { http } = parse((await print('--for', 'traefik-auth')).stdout);
    const {
      coursegate: own,
      'coursegate-to-far_away_0': far,
      'coursegate-to-school': near,
      'coursegate-site': site,
    } = http.routers;
    write(OVER_TCP, { site: { upstream: 'far-away' } });
    const { http: withSite } = parse((await print('--for', 'traefik-auth')).stdout);
    expect(withSite.services['coursegate-site'].loadBalancer.servers).toEqual([{ url: 'https://api.far.example:443' }]);
    write(OVER_TCP);
    expect(far.middlewares).toEqual([
      ...['coursegate-site', 'coursegate-trace', 'coursegate-request', 'coursegate-ask', 'coursegate-to-far_away_0'],
    ]);
    expect(site).toMatchObject({ rule: 'Host(`school.example`)', middlewares: ['coursegate-site'] });
    expect(http.services['coursegate-site'].loadBalancer.servers).toEqual([{ url: 'http://127.0.0.1:8000' }]);
    // The router with the highest priority applies.
    const routers = Object.entries<{ rule: string; priority: number; entryPoints?: string[] }>(http.routers)
      .filter(([, { entryPoints }]) => entryPoints === undefined)
      .toSorted(([, one], [, other]) => other.priority - one.priority)
      .map(([name, { rule }]) => ({ name, takes: ruleOf(rule) }));
    const to = (method: string, path: string) => routers.find(({ takes }) => takes(method, path))?.name;
    expect([own, far, near, site].map(({ priority }) => priority)).toEqual([300_000, 200_000, 200_000, 100_000]);
    expect(
      [
        ...['GET /api/courses/1', 'PUT /api/courses/1', 'OPTIONS /api/courses/1', 'GET /api/courses', 'GET /api/x/y'],
        ...['DELETE /api/x', 'GET /API/x/\u00e9/z', 'POST /api/orders/1', 'GET /oauth/apps', 'GET /', 'OPTIONS /'],
        ...['GET /api;a=b/x', 'GET /pages/a\\b', 'GET /pages//b', 'GET /pages/a.', 'GET /%6dember', 'GET /100%25'],
      ].map((request) => [request, to(...(request.split(' ') as [string, string]))]),
    ).toEqual([
      ['GET /api/courses/1', 'coursegate-to-far_away_0'],
      ['PUT /api/courses/1', 'coursegate-to-far_away_0'],
      ['OPTIONS /api/courses/1', 'coursegate'],
      ['GET /api/courses', 'coursegate-site'],
      ['GET /api/x/y', 'coursegate-to-school'],
      ['DELETE /api/x', 'coursegate-to-school'],
      ['GET /API/x/\u00e9/z', 'coursegate-to-school'],
      ['POST /api/orders/1', 'coursegate'],
      ['GET /oauth/apps', 'coursegate'],
      ['GET /', 'coursegate-site'],
      ['OPTIONS /', 'coursegate-site'],
      ...['GET /api;a=b/x', 'GET /pages/a\\b', 'GET /pages//b', 'GET /pages/a.', 'GET /%6dember', 'GET /100%25'].map(
        (request) => [request, 'coursegate'],
      ),
    ]);
    expect(http.middlewares['coursegate-ask'].forwardAuth).toMatchObject({
      address: 'http://127.0.0.1:9093/decide/forward-auth',
      trustForwardHeader: false,
    });
    expect(http.routers['coursegate-asked']).toMatchObject({
      entryPoints: ['coursegate'],
      service: 'coursegate-asked',
    });
    expect(http.services['coursegate-asked'].loadBalancer.servers).toEqual([{ url: 'http://127.0.0.1:9092' }]);
    expect(http.middlewares['coursegate-request'].headers.customRequestHeaders).toMatchObject({
      cookie: '',
      'x-forwarded-prefix': '',
      'X-Coursegate-Secret': SECRET,
    });
    expect(http.middlewares['coursegate-site'].headers.customRequestHeaders).toMatchObject({
      'x-member-id': '',
      'x_member.id': '',
      'x-client~id': '',
    });
    // Traefik removes fields by their whole names only. These are the ones that backends know.
    const removed = Object.entries(http.middlewares['coursegate-request'].headers.customRequestHeaders)
      .filter(([, value]) => value === '')
      .map(([name]) => name);
    expect(removed).toEqual(
      expect.arrayContaining([
        ...['x-auth-request-user', 'x-auth-request-email', 'remote-user', 'remote-groups', 'x-remote-user'],
        ...['x-original-url', 'x-original-uri', 'x-original-method', 'x-original-host'],
      ]),
    );
    expect(http.middlewares['coursegate-to-school'].headers).toMatchObject({
      customRequestHeaders: { authorization: '', 'X-Coursegate-Secret': '' },
      customResponseHeaders: { 'set-cookie': '', 'access-control-allow-origin': '*' },
    });
  });

  it.each([
    ['nginx-auth', undefined, {}, /listen\.decisions/],
    ['nginx-auth', OVER_TCP, { routes: [] }, /forwardedBy: gateway/],
    ['traefik-auth', { address: 'unix:/run/x.sock' }, {}, /Unix socket/],
  ])('for %s are refused with listen.decisions %j', async (name, decisions, more, words) => {
    write(decisions, decisions === undefined ? { routes: [], ...more } : more);
    const { code, stdout, stderr } = await print('--for', name);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(words);
  });
});

describe('snippets', () => {
  it.each([
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
    ['10.0.0.7', '10.0.0.7'],
  ])('reach a gate that listens on %s at %s', async (host, reached) => {
    const environment = { COURSEGATE__LISTEN__HOST: host, COURSEGATE__LISTEN__PORT: '8443' };
    const printed = runCommand(['snippets', '--config', CONFIG, '--for', 'caddy'], environment);
    expect(await printed.exited).toBe(0);
    expect(printed.stdout()).toContain(`reverse_proxy ${reached}:8443`);
  });

  it.each([
    [['--for', 'iis'], /nginx, apache, caddy, traefik/],
    [['--for', 'nginx', '--gate', 'a;b'], /host:port/],
  ])('refuses %j', async (args, words) => {
    const refused = runCommand(['snippets', '--config', CONFIG, ...args]);
    expect(await refused.exited).toBe(64);
    expect(refused.stdout()).toBe('');
    expect(refused.stderr()).toMatch(words);
  });

  it('match paths with a wildcard in the middle, and omit paths that are already covered', () => {
    const paths = gatePaths(['/api/a/*/b', '/api/a/*/c/**', '/x/**', '/x/y', '/mcp', '/oauth/apps', '/z.json']);
    expect(paths.patterns).toEqual(['/api/a/[^/]+/b', '/api/a/[^/]+/c(/.*)?']);
    expect(paths.exact).toEqual(['/mcp', '/mcp/', '/x', '/z.json']);
    expect(paths.under.filter((path) => !path.startsWith('/.well-known'))).toEqual(['/api/oauth/', '/oauth/', '/x/']);
    const takes = new RegExp(oneExpression(paths));
    expect(
      ['/api/a/1/b', '/api/a/1/c', '/api/a/1/c/d', '/x', '/x/1/2', '/z.json'].every((path) => takes.test(path)),
    ).toBe(true);
    expect(
      ['/api/a/b', '/api/a/1/2/b', '/api/a/1/cd', '/xy', '/zXjson', '/x/../y'].filter((path) => takes.test(path)),
    ).toEqual(['/x/../y']);
  });
});
