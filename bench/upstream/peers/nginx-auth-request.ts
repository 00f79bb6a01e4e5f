import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, type Process, startProcess } from '../../support/processes.ts';
import { goBuild } from '../go.ts';
import { FORWARDED, nginxHttp } from './nginx.ts';
import { startNginx } from './nginx-process.ts';
import type { Peer, PeerContext } from './peer.ts';

type StartService = (context: PeerContext, port: number, tokenFile: string) => Promise<Process>;

/** nginx with auth_request: asks a small token service about every request, passes its identity headers on, and logs JSON. */
function authRequest(name: string, startService: StartService): Peer {
  return {
    name,
    processes: ['nginx', 'service'],
    async start(context) {
      const { folder, upstream, workers, processor, tokens } = context;
      const [port, servicePort] = [await freePort(), await freePort()];
      const tokenFile = join(folder, `tokens-${port}`);
      writeFileSync(tokenFile, tokens.join('\n'));
      const service = await startService(context, servicePort, tokenFile);
      const log = `
        log_format json escape=json '{"time":"$time_iso8601","method":"$request_method","path":"$uri","status":$status,"bytes":$bytes_sent,"ms":$request_time,"upstream_ms":"$upstream_header_time","member":"$member","client":"$client","request_id":"$request_id","address":"$remote_addr"}';
        access_log ${folder}/access-${port}.log json buffer=64k flush=1s;`;
      const identity = `auth_request /check; auth_request_set $member $upstream_http_x_member_id;
        auth_request_set $client $upstream_http_x_client_id; auth_request_set $assertion $upstream_http_x_assertion;
        proxy_set_header X-Member-Id $member; proxy_set_header X-Client-Id $client; proxy_set_header X-Assertion $assertion;`;
      const http = nginxHttp(
        upstream,
        log,
        `upstream service { server 127.0.0.1:${servicePort}; keepalive 128; keepalive_requests 1000000000; }
        server { listen 127.0.0.1:${port} backlog=4096;
          set $member ""; set $client "";
          location / { ${identity} ${FORWARDED} proxy_pass http://backend; }
          location /api/bench/stream { ${identity} ${FORWARDED} proxy_buffering off; proxy_pass http://streams; }
          location = /check { internal; proxy_pass http://service; proxy_pass_request_body off;
            proxy_set_header Connection ""; proxy_set_header Content-Length ""; proxy_set_header X-Original-Uri $request_uri; } }`,
      );
      const process = await startNginx({ folder, name: `auth-${port}`, workers, processor, port, http });
      return {
        port,
        roots: [process.pid, service.pid],
        tokens,
        async stop() {
          await process.stop();
          await service.stop();
        },
      };
    },
  };
}

export const nginxAuthRequestNode = authRequest(
  'nginx auth_request + Node service',
  ({ folder, processor }, port, tokenFile) =>
    startProcess(process.execPath, [fileURLToPath(new URL('../servers/token-service.ts', import.meta.url))], {
      processor,
      environment: { PORT: String(port), TOKENS: tokenFile },
      port,
      output: join(folder, `service-${port}.log`),
    }),
);

export const nginxAuthRequestGo = authRequest(
  'nginx auth_request + Go service',
  async ({ folder, processor }, port, tokenFile) =>
    startProcess(await goBuild('token-service', folder), [], {
      processor,
      environment: { PORT: String(port), TOKENS: tokenFile },
      port,
      output: join(folder, `service-${port}.log`),
    }),
);
