import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGate, THIS_TREE } from '../../support/gate.ts';
import { startNginx } from './nginx-process.ts';
import type { Peer } from './peer.ts';

const LOG = `log_format json escape=json '{"time":"$time_iso8601","method":"$request_method","path":"$uri","status":$status,"bytes":$bytes_sent,"ms":$request_time,"upstream_ms":"$upstream_header_time","request_id":"$request_id","address":"$remote_addr"}';`;

/** nginx with the files of `coursegate snippets --for nginx-auth`, and the gate that it asks: plugin mode. */
export const nginxDecisions: Peer = {
  name: 'nginx + our decision',
  processes: ['gate', 'nginx'],
  async start({ folder, upstream, workers, processor }) {
    const routes = Array.from(
      { length: 8 },
      (_, at) => `{ match: "GET /api/area-${at}/things/**", upstream: bench, scopes: [courses:read] }`,
    );
    const gate = await startGate({
      ...{ folder, profile: 'B', processor },
      upstreams: { bench: `http://127.0.0.1:${upstream.port}` },
      routes: [
        ...routes,
        '{ match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse, forwardedBy: gateway }',
      ],
      gateway({ file, port, home, site, environment }) {
        execFileSync(
          process.execPath,
          [join(THIS_TREE, 'src/main.ts'), 'snippets', '--config', file, '--for', 'nginx-auth', '--dir', home],
          { env: { ...process.env, ...environment }, stdio: ['ignore', 'ignore', 'inherit'] },
        );
        const http = `${LOG} access_log ${home}/access.log json buffer=64k flush=1s;
          keepalive_requests 1000000000; keepalive_timeout 75s;
          ${readFileSync(join(home, 'coursegate-http.conf'), 'utf8')}
          server { listen 127.0.0.1:${port} backlog=4096;
            ${readFileSync(join(home, 'coursegate.conf'), 'utf8')}
            location / { proxy_pass ${site}; proxy_set_header Host $http_host; } }`;
        return startNginx({ folder: home, name: 'nginx', workers, processor, port, http });
      },
    });
    return {
      port: gate.port,
      roots: [gate.pid, ...(gate.gatewayPid === undefined ? [] : [gate.gatewayPid])],
      tokens: gate.tokens,
      stop: gate.stop,
    };
  },
};
