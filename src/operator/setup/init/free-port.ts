import { createServer } from 'node:http';
import { listen, shut } from '../../../http/listen.ts';
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

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await listen(probe, { port, host: '127.0.0.1' });
    return true;
  } catch {
    return false;
  } finally {
    await shut(probe);
  }
}
