import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startProcess } from '../../support/processes.ts';
import type { Peer } from './peer.ts';

const SERVER = fileURLToPath(new URL('../servers/hpm-express.ts', import.meta.url));
const CLUSTER = fileURLToPath(new URL('../../support/cluster.ts', import.meta.url));

/** Express 5 and http-proxy-middleware 4 with keep-alive, set up as in its README, behind our own gate's decision. */
export const hpmExpress: Peer = {
  name: 'http-proxy-middleware on express, our gate',
  async start({ folder, upstream, workers, processor, tokens }) {
    const [port, inspector] = [await freePort(), await freePort()];
    const tokenFile = join(folder, `tokens-${port}`);
    writeFileSync(tokenFile, tokens.join('\n'));
    const process_ = await startProcess(
      process.execPath,
      workers === 1 ? [`--inspect-port=${inspector}`, SERVER] : [CLUSTER, String(workers), SERVER],
      {
        processor,
        environment: {
          PORT: String(port),
          TOKENS: tokenFile,
          UPSTREAM: `http://127.0.0.1:${upstream.port}`,
          STREAMS: `http://127.0.0.1:${upstream.streamPort}`,
          NODE_ENV: 'production',
        },
        port,
        output: join(folder, `hpm-${port}.log`),
      },
    );
    return { port, roots: [process_.pid], ...(workers === 1 ? { inspector } : {}), tokens, stop: process_.stop };
  },
};
