import { freePort } from '../../support/processes.ts';
import { startNginx } from './nginx-process.ts';
import type { Peer } from './peer.ts';

/** Settings of all nginx peers: keep-alive on both sides, and unbuffered streams. */
export function nginxHttp(upstream: { port: number; streamPort: number }, log: string, server: string): string {
  return `
    ${log}
    keepalive_requests 1000000000; keepalive_timeout 75s;
    upstream backend { server 127.0.0.1:${upstream.port}; keepalive 128; keepalive_requests 1000000000; }
    upstream streams { server 127.0.0.1:${upstream.streamPort}; keepalive 16; }
    proxy_http_version 1.1;
    ${server}`;
}

export const FORWARDED = `proxy_set_header Connection ""; proxy_set_header Host $host; proxy_set_header Authorization "";
  proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Host $host; proxy_set_header X-Forwarded-Proto $scheme;`;

/** The lower bound: proxy_pass without tokens and without a log. */
export const nginx: Peer = {
  name: 'nginx proxy_pass',
  async start({ folder, upstream, workers, processor }) {
    const port = await freePort();
    const http = nginxHttp(
      upstream,
      'access_log off;',
      `server { listen 127.0.0.1:${port} backlog=4096;
        location / { ${FORWARDED} proxy_pass http://backend; }
        location /api/bench/stream { ${FORWARDED} proxy_buffering off; proxy_pass http://streams; } }`,
    );
    const process = await startNginx({ folder, name: `nginx-${port}`, workers, processor, port, http });
    return { port, roots: [process.pid], tokens: [], stop: process.stop };
  },
};
