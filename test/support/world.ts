import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/config/load.ts';
import { type School, startSchool } from '../../src/demo/school.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { createLog } from '../../src/operations/log.ts';

export interface World {
  readonly origin: string;
  readonly admin: string;
  readonly school: School;
  readonly data: string;
  /** Stops the gate and starts it again on the same data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly profile: string;
  readonly clock?: () => number;
  /** Laid over the demo's configuration. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

/** The demo's gate and school on free ports with a store of their own: real processes' parts, real HTTP. */
export async function startWorld({ profile, clock = Date.now, overrides = {} }: WorldOptions): Promise<World> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const data = mkdtempSync(join(tmpdir(), 'coursegate-world-'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock,
  });
  const { urls } = school;
  const start = async (): Promise<Gateway> => {
    const loaded = await loadConfig({
      file: CONFIG,
      environment: { COURSEGATE_PROFILE: profile, PORT: String(port), ADMIN_PORT: '0', COURSEGATE_DATA: data },
      overrides: {
        upstreams: { school: { url: urls.school }, progress: { url: urls.progress }, events: { url: urls.events } },
        ...overrides,
      },
    });
    return startGateway({ loaded, log: createLog('silent', 2), clock });
  };
  let gateway = await start();
  return {
    origin,
    get admin() {
      return `http://127.0.0.1:${gateway.adminPort}`;
    },
    school,
    data,
    async restart() {
      await gateway.close(1);
      gateway = await start();
    },
    async close() {
      await gateway.close(1);
      await school.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The origin is configuration, so the port must be known before anything listens. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
