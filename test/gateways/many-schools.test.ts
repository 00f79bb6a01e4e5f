import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BLOCKS } from '../docs/support/pages.ts';
import { createAuthority } from '../support/certificates.ts';
import { type Schools, startSchools } from '../support/schools.ts';
import { freePort } from '../support/world.ts';
import { caddy } from './kinds/caddy.ts';
import { nginx, nginxMainline } from './kinds/nginx.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, isInstalled } from './support/kinds.ts';
import { runGateway } from './support/run-gateway.ts';

const ONE = {
  profile: 'A',
  origin: 'https://one.example',
  aliases: { 'https://www.one.example': 'redirect', 'https://serves.one.example': 'serve' },
};
const TWO = { profile: 'A', origin: 'https://two.example' };
const THREE = { profile: 'A', origin: 'https://three.example' };

/** Far more than a loaded machine needs. */
const PATIENCE = { timeout: 30_000, interval: 100 };

/** The block of docs/schools-proxy.md in a language, with the ports of a test. */
function documented(language: string, replaced: Readonly<Record<string, string>>): string {
  const block = BLOCKS.find((one) => one.file === 'docs/schools-proxy.md' && one.language === language);
  let text = block?.text ?? '';
  for (const [from, to] of Object.entries(replaced)) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** What a client gets at a name of the proxy at `port`: the answer, or why there was no handshake. */
async function asked(port: number, host: string, ca: string, path = '/.well-known/oauth-protected-resource') {
  const options: RequestOptions = { host: '127.0.0.1', port, servername: host, ca, path, headers: { host } };
  const sent = request({ ...options, agent: new Agent({ maxCachedSessions: 0 }) });
  sent.end();
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return { status: answer.statusCode, location: answer.headers.location, text };
  } catch (thrown) {
    return { refused: /:SSL routines:[^:]*:([^:]+):/.exec(String(thrown))?.[1] };
  }
}

const resourceOf = ({ text }: { readonly text?: string | undefined }) => JSON.parse(text ?? '{}').resource;

describe.skipIf(!isInstalled(caddy))('Caddy in front of many schools, with certificates on demand', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-many-'));
  let schools: Schools;
  let proxy: RunningGateway;
  let port: number;
  beforeAll(async () => {
    const [gate, probes] = [await freePort(), await freePort()];
    port = await freePort();
    schools = await startSchools({
      schools: { one: ONE, two: TWO },
      main: {
        listen: { port: gate, admin: { port: 0 }, probes: { port: probes }, trustedProxies: ['loopback'] },
      },
    });
    const file = join(folder, 'Caddyfile');
    // Its own authority in place of a public one, and no system settings.
    const options =
      'admin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\tgrace_period 1s\n';
    writeFileSync(
      file,
      documented('caddy', {
        '{\n\ton_demand_tls': `{\n\t${options}\ton_demand_tls`,
        'https:// {': `https://:${port} {`,
        '127.0.0.1:9091': `127.0.0.1:${probes}`,
        '127.0.0.1:8080': `127.0.0.1:${gate}`,
      }),
    );
    const environment = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    proxy = await runGateway(caddy.program() ?? '', ['run', '--adapter', 'caddyfile', '--config', file], {
      port,
      environment,
    });
  });
  afterAll(async () => {
    await proxy?.close();
    await schools?.close();
    rmSync(folder, { recursive: true });
  });

  const ca = () => readFileSync(join(folder, 'caddy/pki/authorities/local/root.crt'), 'utf8');

  it('serves each school at its own names, and gives no other name a handshake', async () => {
    expect(resourceOf(await asked(port, 'one.example', ca()))).toBe('https://one.example');
    expect(resourceOf(await asked(port, 'two.example', ca()))).toBe('https://two.example');
    expect(resourceOf(await asked(port, 'serves.one.example', ca()))).toBe('https://serves.one.example');
    expect(await asked(port, 'www.one.example', ca(), '/x?y=1')).toMatchObject({
      status: 308,
      location: 'https://one.example/x?y=1',
    });
    for (const host of ['three.example', 'x.one.example', 'example'])
      expect(await asked(port, host, ca())).toEqual({ refused: 'tlsv1 alert internal error' });
  });

  it('serves a school that is added, and is not restarted for it', async () => {
    schools.write('three', THREE);
    await schools.reload();
    expect(resourceOf(await asked(port, 'three.example', ca()))).toBe('https://three.example');
  });
});

describeKinds([nginx, nginxMainline], '$name in front of many schools, with the file of their domains', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-many-'));
  const authority = createAuthority();
  const file = join(folder, 'nginx.conf');
  const list = join(folder, 'domains/all.conf');
  const settings = ['-p', folder, '-c', file, '-e', join(folder, 'error.log')];
  let schools: Schools;
  let proxy: RunningGateway;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    for (const name of ['domains', 'schools', 'tmp']) mkdirSync(join(folder, name));
    schools = await startSchools({ schools: { one: ONE, two: TWO }, main: { domains: list } });
    for (const host of ['one', 'two', 'three', 'www.one', 'serves.one'].map((name) => `${name}.example`)) {
      const { certFile, keyFile } = authority.issue(host);
      copyFileSync(certFile, join(folder, 'schools', `${host}.crt`));
      copyFileSync(keyFile, join(folder, 'schools', `${host}.key`));
    }
    const forHttp = documented('nginx', {
      'listen 443': `listen 127.0.0.1:${port}`,
      '/run/coursegate/': `${folder}/domains/`,
      '/etc/nginx/schools/': `${folder}/schools/`,
      '127.0.0.1:8080': `127.0.0.1:${schools.port}`,
    });
    writeFileSync(
      file,
      `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http { access_log off; client_body_temp_path tmp/b; proxy_temp_path tmp/p; fastcgi_temp_path tmp/f; uwsgi_temp_path tmp/u; scgi_temp_path tmp/s;
${forHttp}}
`,
    );
    await vi.waitUntil(() => existsSync(list), PATIENCE);
    proxy = await runGateway(kind.program() ?? '', settings, { port });
  });
  afterAll(async () => {
    await proxy?.close();
    await schools?.close();
    authority.close();
    rmSync(folder, { recursive: true });
  });

  const at = (host: string, path?: string) => asked(port, host, authority.ca, path);

  it('serves each school at its own names, and gives no other name a handshake', async () => {
    for (const host of ['one.example', 'two.example', 'serves.one.example'])
      expect(resourceOf(await at(host))).toBe(`https://${host}`);
    expect(await at('www.one.example', '/x?y=1')).toMatchObject({ status: 308, location: 'https://one.example/x?y=1' });
    for (const host of ['three.example', 'x.one.example', 'example'])
      expect(await at(host)).toEqual({ refused: 'tlsv1 unrecognized name' });
  });

  it('serves a school that is added once it has read the file again, and none that was removed', async () => {
    schools.write('three', THREE);
    schools.write('two', undefined);
    await schools.reload();
    await expect.poll(() => readFileSync(list, 'utf8'), PATIENCE).toContain('server_name three.example;\n');
    expect(spawnSync(kind.program() ?? '', [...settings, '-s', 'reload'])).toMatchObject({ status: 0 });
    await expect.poll(async () => resourceOf(await at('three.example')), PATIENCE).toBe('https://three.example');
    await expect.poll(() => at('two.example'), PATIENCE).toEqual({ refused: 'tlsv1 unrecognized name' });
  });
});
