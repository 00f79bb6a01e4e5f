import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Command, runCommand } from '../../support/command.ts';
import { freePort } from '../../support/world.ts';
import { CookieBrowser } from '../connect/support/cookie-browser.ts';

const COURSES = [{ slug: 'sailing', title: 'Sailing' }];

/** A site of its own make: a script draws its sign-in page, to which `/` leads in the visitor's language. */
function site(): Server {
  return createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://site');
    const isMember = /(?:^|; )harbour=member-7/.test(request.headers.cookie ?? '');
    const json = (status: number, body: unknown) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(JSON.stringify(body));
    let body = '';
    for await (const chunk of request) body += chunk;
    if (pathname === '/') {
      response.writeHead(302, { location: '/en/', 'set-cookie': 'visitor=1; Path=/' }).end();
    } else if (pathname === '/en/') {
      response.writeHead(302, { location: '/en/auth/?next=%2Fen%2F' }).end();
    } else if (pathname === '/en/auth/' && request.method === 'POST') {
      const next = new URLSearchParams(body).get('next') ?? '/';
      response
        .writeHead(302, { location: next, 'set-cookie': 'harbour=member-7; Path=/; HttpOnly; SameSite=Lax' })
        .end();
    } else if (pathname === '/en/auth/') {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Harbour</title><div id=app></div>');
    } else if (pathname === '/session/current.json') {
      if (isMember) json(200, { person: { uuid: 'member-7' } });
      else json(401, {});
    } else if (pathname === '/v1/courses') {
      if (request.headers['x-member-id'] === 'member-7') json(200, COURSES);
      else json(403, {});
    } else json(404, {});
  });
}

describe('a newcomer with a site of no known framework', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coursegate-newcomer-'));
  const file = join(dir, 'coursegate.yaml');
  const school = site();
  let upstream: string;
  let origin: string;
  let init: Command;
  let gate: Command | undefined;

  beforeAll(async () => {
    await new Promise<void>((resolve) => school.listen(0, '127.0.0.1', resolve));
    upstream = `http://127.0.0.1:${(school.address() as AddressInfo).port}`;
    const [port, admin] = [await freePort(), await freePort()];
    origin = `http://localhost:${port}`;
    const where = ['--origin', origin, '--port', String(port), '--admin-port', String(admin), '--dir', dir];
    init = runCommand(['init', '--upstream', upstream, ...where, '--site']);
    await init.exited;
  });
  afterAll(async () => {
    gate?.signal('SIGTERM');
    await gate?.exited;
    school.closeAllConnections();
    school.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const ended = async (...args: string[]) => {
    const command = runCommand(args);
    return { code: await command.exited, said: command.stdout() + command.stderr() };
  };

  it('is told which lines to fill in, and cannot start before', async () => {
    expect(init.stderr()).toContain('Sign-in page: /en/auth/. Session cookies: none seen.');
    expect(init.stderr()).toMatch(/Fill in these 2 lines: \d+, \d+ of coursegate\.yaml/);
    expect(init.stderr()).toContain(`connect ${origin}`);
    const { code, said } = await ended('check', file);
    expect([code, said.match(/is not filled in/g)?.length]).toEqual([78, 3]);
  });

  it('fills them in, adds a route, and comes through check, serve, doctor and connect', async () => {
    const text = readFileSync(file, 'utf8')
      .replace('path: "/FILL-IN", subject: "/FILL-IN"', 'path: /session/current.json, subject: /person/uuid')
      .replace('["FILL-IN"]', '[harbour]')
      .replace('routes: []', 'routes: [{ match: "GET /v1/courses", upstream: site, scopes: [courses:read] }]');
    writeFileSync(file, text);
    expect(await ended('check', file)).toMatchObject({ code: 0, said: expect.stringContaining(': valid. 1 route,') });

    gate = runCommand(['serve', '--config', file]);
    await gate.line(/^coursegate ready/);
    // No test asks the internet.
    const doctor = await ended('doctor', origin, '--config', file, '--skip', 'gate.client-documents');
    expect(doctor.said).toMatch(/: 0 failures/);
    expect(doctor.code).toBe(0);
    expect(await ended('members', 'list', '--config', file)).toMatchObject({ code: 0 });

    const connect = runCommand(['connect', origin, '--no-browser']);
    await approve(await addressOf(connect));
    expect([await connect.exited, connect.stderr()]).toEqual([0, expect.stringContaining('Everything works.')]);
    expect(connect.stdout()).toMatch(/sailing/i);
  });

  async function addressOf(connect: Command): Promise<string> {
    const pattern = /^ {2}(http\S+)$/m;
    await expect.poll(() => connect.stderr(), { timeout: 30_000 }).toMatch(pattern);
    return pattern.exec(connect.stderr())?.[1] ?? '';
  }

  /** What a member does in a browser. */
  async function approve(address: string): Promise<void> {
    const browser = new CookieBrowser();
    const { url } = await browser.follow(address);
    expect(url.pathname).toBe('/en/auth/');
    const signedIn = await browser.post(url, [['next', url.searchParams.get('next') ?? '']]);
    const consent = await browser.follow(new URL(signedIn.headers.get('location') ?? '', url));
    const page = await consent.response.text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const scopes = [...page.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope = '']) => ['scope', scope]);
    const fields = [['csrf', csrf], ['decision', 'approve'], ...scopes] as [string, string][];
    const approved = await browser.post(consent.url, fields, { origin });
    await browser.follow(new URL(approved.headers.get('location') ?? '', consent.url));
  }
});
