import { join } from 'node:path';
import { freePort, startProcess } from '../../support/processes.ts';
import { goBuild } from '../go.ts';
import type { Peer } from './peer.ts';

export const goProxy: Peer = {
  name: 'Go ReverseProxy, no token',
  async start({ folder, upstream, processor }) {
    const port = await freePort();
    const process = await startProcess(await goBuild('reverse-proxy', folder), [], {
      processor,
      environment: {
        PORT: String(port),
        UPSTREAM: `http://127.0.0.1:${upstream.port}`,
        STREAMS: `http://127.0.0.1:${upstream.streamPort}`,
      },
      port,
      output: join(folder, `go-${port}.log`),
    });
    return { port, roots: [process.pid], tokens: [], stop: process.stop };
  },
};
