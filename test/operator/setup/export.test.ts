import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { exportDocuments } from '../../../src/operator/setup/export/export.ts';
import { runCommand } from '../../support/command.ts';
import { type HttpServer, serverPresent, startConfigured } from '../../support/http-server.ts';
import { type ProxyWorld, startProxyWorld } from '../../support/proxy-world.ts';
import { rawRequest } from '../../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import { freePort } from '../../support/world.ts';

/** Two resources and tools: every kind of document there is. */
const PRM = '/.well-known/oauth-protected-resource';
const FILES: Readonly<Record<string, string>> = {
  [PRM]: '.well-known/oauth-protected-resource',
  [`${PRM}/api/v1`]: '.well-known/oauth-protected-resource+api+v1.json',
  [`${PRM}/mcp`]: '.well-known/oauth-protected-resource+mcp.json',
  [`${PRM}/mcp/`]: '.well-known/oauth-protected-resource+mcp+.json',
  [`${PRM}/mcp/member`]: '.well-known/oauth-protected-resource+mcp+member.json',
  [`${PRM}/mcp/member/`]: '.well-known/oauth-protected-resource+mcp+member+.json',
  '/.well-known/oauth-authorization-server': '.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration': '.well-known/openid-configuration',
  '/openapi.json': 'openapi.json',
  '/auth.md': 'auth.md',
};
const COPIED = ['content-type', 'cache-control', 'access-control-allow-origin', 'x-content-type-options', 'link'];

const FRONTS = {
  nginx: (folder: string, port: number, site: string) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  types { application/x-unknown json md; }
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  server {
    listen 127.0.0.1:${port};
    include ${site}/coursegate-nginx.conf;
    location / { return 404; }
  }
}`,
  apache2: (folder: string, port: number, site: string) => `
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}/tmp
${['mpm_event', 'authz_core', 'headers', 'rewrite']
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join('\n')}
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
StartServers 1
ServerLimit 2
ThreadsPerChild 16
MaxRequestWorkers 32
DocumentRoot ${site}
<Directory ${site}>
  AllowOverride FileInfo
  Options FollowSymLinks
  Require all granted
</Directory>
`,
} as const;

describe('coursegate export', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-export-'));
  const site = join(folder, 'site');
  const config = join(folder, 'coursegate.yaml');
  let upstream: RecordingUpstream;
  let world: ProxyWorld;
  let said: string;

  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    const tool = {
      name: 'one',
      title: 'T',
      description: 'D',
      get: { upstream: 'back', path: '/x' },
      result: { x: '' },
    };
    world = await startProxyWorld({
      upstream: upstream.url,
      config: {
        profile: 'B',
        name: 'School of “Ängström” 100 %',
        resources: [{ path: '/api/v1', scopes: ['courses:read'] }],
        mcp: { tools: [tool] },
      },
    });
    chmodSync(folder, 0o755);
    const store = `kind: sqlite\n  path: ${folder}/gate.db`;
    writeFileSync(config, readFileSync(world.file, 'utf8').replace('kind: memory', store));
    const command = runCommand(['export', '--config', config, '--dir', site]);
    expect(await command.exited, command.stderr()).toBe(0);
    said = command.stderr();
  });
  afterAll(async () => {
    await world.close();
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = (origin: string, path: string, method = 'GET', headers = {}) =>
    rawRequest(origin, { path, method, headers });

  it('writes what the gate answers, byte for byte, and opens neither the store nor a connection', async () => {
    for (const [path, file] of Object.entries(FILES))
      expect(readFileSync(join(site, file), 'utf8'), path).toBe((await ask(world.origin, path)).text);
    expect(readdirSync(site, { recursive: true }).map(String).toSorted()).toEqual(
      [
        ...Object.values(FILES),
        '.well-known',
        '.well-known/.htaccess',
        'coursegate-htaccess.txt',
        'coursegate-nginx.conf',
      ].toSorted(),
    );
    expect(said).toMatch(/jwks\.json is not among them/);
    expect([upstream.requests, existsSync(join(folder, 'gate.db'))]).toEqual([[], false]);
  });

  it('replaces an earlier export, and nothing else', async () => {
    const loaded = await loadConfig({ file: config, environment: {} });
    await exportDocuments(loaded, site);
    for (const name of ['auth.md', '.well-known/.htaccess']) {
      const other = mkdtempSync(join(folder, 'other-'));
      mkdirSync(join(other, '.well-known'));
      writeFileSync(join(other, name), 'the site’s own');
      await expect(exportDocuments(loaded, other)).rejects.toThrow(`${name} is not from an export`);
      expect(readdirSync(other, { recursive: true })).toHaveLength(2);
    }
  });

  describe.each(Object.keys(FRONTS) as (keyof typeof FRONTS)[])('%s', (name) => {
    const isThere = serverPresent(name);
    let front: HttpServer;
    let origin: string;
    beforeAll(async () => {
      if (!isThere) return;
      writeFileSync(join(site, '.htaccess'), readFileSync(join(site, 'coursegate-htaccess.txt')));
      const port = await freePort();
      origin = `http://127.0.0.1:${port}`;
      front = await startConfigured(name, port, (inner) => FRONTS[name](inner, port, site));
    });
    afterAll(async () => {
      await front?.close();
      rmSync(join(site, '.htaccess'), { force: true });
    });

    it.runIf(isThere)('serves the files with the types and fields of the gate', async () => {
      for (const path of Object.keys(FILES)) {
        const [copy, own] = [await ask(origin, path), await ask(world.origin, path)];
        expect([path, copy.status, copy.text]).toEqual([path, 200, own.text]);
        for (const field of COPIED)
          expect([path, field, copy.headers[field]]).toEqual([path, field, own.headers[field]]);
        expect(copy.headers).not.toHaveProperty('x-request-id');
      }
    });

    it.runIf(isThere)('answers the preflight of an MCP client', async () => {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      };
      const { status, headers: given } = await ask(origin, `${PRM}/mcp`, 'OPTIONS', headers);
      expect([200, 204]).toContain(status);
      expect(given).toMatchObject({ 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET' });
      expect(given['access-control-allow-headers']).toMatch(/\bmcp-protocol-version\b/);
    });
  });
});
