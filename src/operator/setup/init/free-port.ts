import { createServer } from 'node:net';
import { DEFAULT_ADMIN_PORT } from './configuration.ts';

/** The next ports are the defaults of other listeners (probes, decisions). */
const FIRST_OTHER = 9093;
const LAST_OTHER = 9192;

/** The default port of the admin listener, or else a free one. `taken` is the port of the gate itself. */
export async function freeAdminPort(taken: number): Promise<number> {
  const others = Array.from({ length: LAST_OTHER - FIRST_OTHER + 1 }, (_, at) => FIRST_OTHER + at);
  for (const port of [DEFAULT_ADMIN_PORT, ...others]) if (port !== taken && (await isFree(port))) return port;
  return DEFAULT_ADMIN_PORT;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
