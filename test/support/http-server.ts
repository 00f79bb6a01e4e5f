import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answers } from './answers.ts';
import { missing } from './missing.ts';
import { freePort } from './world.ts';

export type ServerName = 'nginx' | 'haproxy' | 'apache2';
type Program = ServerName | 'caddy';

const programOf = (name: Program) => (name === 'caddy' ? '/usr/bin/caddy' : `/usr/sbin/${name}`);

/** The web servers from Debian that are tested in front of the gate and behind it. */
export const SERVERS: readonly ServerName[] = ['nginx', 'haproxy', 'apache2'];

/**
 * Whether a server is installed on this machine. Without it, its tests are skipped with a message that names what to
 * install. In CI this is an error, so that a green run means they ran.
 */
export function serverPresent(name: Program): boolean {
  if (existsSync(programOf(name))) return true;
  return missing(`no ${name} found: its tests need one (apt-get install ${name})`);
}

export interface HttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a real reverse proxy in front of `next`. It adds a unique X-Hop-Id to every request it forwards. */
export async function startServer(name: ServerName, next: number): Promise<HttpServer> {
  const port = await freePort();
  return startConfigured(name, port, (folder) => CONFIGURATIONS[name](folder, port, next));
}

/**
 * Starts a server with the test's own configuration. `port` is where that configuration listens; `write` returns its
 * text for a working folder.
 */
export async function startConfigured(
  name: Program,
  port: number,
  write: (folder: string) => string,
): Promise<HttpServer> {
  const folder = mkdtempSync(join(tmpdir(), `coursegate-${name}-`));
  mkdirSync(join(folder, 'tmp'));
  const file = join(folder, 'server.conf');
  writeFileSync(file, write(folder));
  const child = spawn(programOf(name), ARGUMENTS[name](folder, file), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    // Workers are child processes, which would not end with it.
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries === 500 || child.exitCode !== null) {
      const log = join(folder, 'error.log');
      throw new Error(`${name} did not start: ${said} ${existsSync(log) ? readFileSync(log, 'utf8') : ''}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    port,
    async close() {
      await ended(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Kills a server and its workers: on SIGTERM, some wait seconds for open streams. */
function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) resolve();
    else process.kill(-child.pid, 'SIGKILL');
  });
}

const ARGUMENTS: Record<Program, (folder: string, file: string) => string[]> = {
  nginx: (folder, file) => ['-p', folder, '-c', file, '-e', join(folder, 'error.log')],
  haproxy: (_folder, file) => ['-db', '-f', file],
  apache2: (_folder, file) => ['-DFOREGROUND', '-f', file],
  caddy: (_folder, file) => ['run', '--adapter', 'caddyfile', '--config', file],
};

/** As simple as an operator would write them, with keep-alive to the next hop and streamed bodies. */
const CONFIGURATIONS: Record<ServerName, (folder: string, port: number, next: number) => string> = {
  nginx: (folder, port, next) => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  upstream next { server 127.0.0.1:${next}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://next; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;
      proxy_set_header Host $http_host; proxy_set_header Connection ""; proxy_set_header X-Hop-Id $request_id;
    }
  }
}`,
  haproxy: (_folder, port, next) => `
global
  maxconn 256
defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 10s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}
  http-request set-header X-Hop-Id %[uuid()]
  default_backend back
backend back
  server next 127.0.0.1:${next}
`,
  apache2: (folder, port, next) => `
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/pid
ErrorLog ${folder}/error.log
DefaultRuntimeDir ${folder}/tmp
${['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'headers', 'unique_id']
  .map((module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`)
  .join('\n')}
${process.getuid?.() === 0 ? 'User nobody\nGroup nogroup' : ''}
StartServers 1
ServerLimit 2
ThreadsPerChild 16
MaxRequestWorkers 32
RequestHeader set X-Hop-Id %{UNIQUE_ID}e
AllowEncodedSlashes NoDecode
ProxyPreserveHost On
ProxyPass / http://127.0.0.1:${next}/ nocanon
`,
};
