import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DocumentNetwork } from '../../src/authorization-server/client-documents/network.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import type { ServerFactory } from '../../src/mcp/server.ts';
import { createLog, type Log } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import type { Reload } from '../../src/process/reload.ts';
import { type School, startSchool } from '../../src/tools/demo/school.ts';

export interface World {
  readonly origin: string;
  readonly admin: string;
  readonly school: School;
  readonly data: string;
  /** Stops the gate and starts it again on the same data, with other settings laid over its configuration if given. */
  restart(overrides?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Has the gate take over the same configuration with other settings laid over it, while it runs. */
  reload(overrides: Readonly<Record<string, unknown>>): Promise<Reload>;
  /** Stops the gate, does the work on what it has stored, and starts it again. */
  whileStopped<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly profile: string;
  readonly clock?: () => number;
  /** The school's own, from which it makes the dates of its data; the gate's when left out. */
  readonly schoolClock?: () => number;
  /** Where client ID metadata documents come from. */
  readonly documentNetwork?: DocumentNetwork;
  /** The data folder of a world that is closed, to take its store over under another origin; a new one when left out. */
  readonly data?: string;
  /** Where the gate writes what happens; nowhere when left out. */
  readonly log?: Log;
  /** What answers at /mcp; the configured tools when left out. */
  readonly mcpServer?: ServerFactory;
  /** The descriptor that the access log is written to; none is kept when left out. */
  readonly accessDescriptor?: number;
  /** Variables the configuration reads, besides those that place the gate. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Laid over the demo's configuration. */
  readonly overrides?: Readonly<Record<string, unknown>> & { readonly upstreams?: Readonly<Record<string, unknown>> };
}

const NO_LIMITS = { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' };

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

/** The demo's gate and school on free ports with a store of their own: real processes' parts, real HTTP. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { profile, clock = Date.now, schoolClock = clock, environment = {} } = options;
  let { overrides = {} } = options;
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'coursegate-world-'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock: schoolClock,
  });
  const { urls } = school;
  const load = (): Promise<LoadedConfig> => {
    const { upstreams = {}, constants, ...others } = overrides;
    return loadConfig({
      file: CONFIG,
      environment: {
        COURSEGATE_PROFILE: profile,
        PORT: String(port),
        ADMIN_PORT: '0',
        COURSEGATE_DATA: data,
        ...environment,
      },
      constants: constants as Readonly<Record<string, unknown>> | undefined,
      overrides: {
        upstreams: {
          school: { url: urls.school },
          progress: { url: urls.progress },
          events: { url: urls.events },
          ...upstreams,
        },
        // A test asks for more within a minute than any caller may, unless it is about that.
        limits: NO_LIMITS,
        ...others,
      },
    });
  };
  const start = async (): Promise<Gateway> =>
    startGateway({
      loaded: await load(),
      log: options.log ?? createLog('silent', 2),
      clock,
      ...(options.accessDescriptor === undefined ? {} : { accessDescriptor: options.accessDescriptor }),
      ...(options.mcpServer === undefined ? {} : { mcpServer: options.mcpServer }),
      ...(options.documentNetwork === undefined ? {} : { documentNetwork: options.documentNetwork }),
    });
  let gateway = await start();
  return {
    origin,
    get admin() {
      return `http://127.0.0.1:${gateway.adminPort}`;
    },
    school,
    data,
    async restart(changed = overrides) {
      overrides = changed;
      await gateway.close(1);
      gateway = await start();
    },
    async reload(changed) {
      const before = overrides;
      overrides = changed;
      const reload = await gateway.reload(load);
      if (reload.kind === 'refused') overrides = before;
      return reload;
    },
    async whileStopped(work) {
      await gateway.close(1);
      try {
        return await work();
      } finally {
        gateway = await start();
      }
    },
    async close() {
      await gateway.close(1);
      await school.close();
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

/**
 * The origin is configuration, so the port must be known before anything listens. Taken from below the range that the
 * system hands out by itself (from 32768): no outgoing connection of another test slips into it in between.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
