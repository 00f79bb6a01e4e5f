import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startProcess } from '../support/processes.ts';
import { startNginx } from './peers/nginx-process.ts';

/** The upstream behind all subjects. */
export interface Upstream {
  readonly port: number;
  /** Serves /api/bench/stream, an event stream (`event-source.ts`). */
  readonly streamPort: number;
  stop(): Promise<void>;
}

export const SMALL = 1024;
export const LARGE = 64 * 1024;
/** The CPU of the upstream and the load generator, so that the subject has the other one to itself. */
export const OTHER_PROCESSOR = 1;

/** Starts nginx, which serves 1 KiB from memory and 64 KiB from a file with eight headers each, and Node for event streams. */
export async function startUpstream(folder: string): Promise<Upstream> {
  const [port, streamPort] = [await freePort(), await freePort()];
  const root = join(folder, 'upstream');
  mkdirSync(join(root, 'api/bench'), { recursive: true });
  writeFileSync(join(root, 'api/bench/k64'), 'x'.repeat(LARGE));
  const small = JSON.stringify({ data: 'y'.repeat(SMALL - 11) });
  const nginx = await startNginx({
    folder: root,
    name: 'upstream',
    workers: 1,
    processor: OTHER_PROCESSOR,
    port,
    http: `
      access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on; open_file_cache max=10;
      server {
        listen 127.0.0.1:${port} backlog=4096; root ${root};
        default_type application/json;
        add_header Cache-Control "private, max-age=0"; add_header X-Frame-Options DENY; add_header Vary Accept;
        location = /api/bench/k1 { return 200 '${small}'; }
        location / { }
      }`,
  });
  const streams = await startProcess(
    process.execPath,
    [fileURLToPath(new URL('../support/event-source.ts', import.meta.url))],
    {
      processor: OTHER_PROCESSOR,
      environment: { PORT: String(streamPort) },
      port: streamPort,
      output: join(folder, 'streams.log'),
    },
  );
  return {
    port,
    streamPort,
    async stop() {
      await nginx.stop();
      await streams.stop();
    },
  };
}
