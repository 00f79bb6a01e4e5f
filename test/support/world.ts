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
import type { School } from '../../src/operator/demo/school.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import type { Reload } from '../../src/process/reload.ts';
import { startSchoolWithEcho } from './echo-socket.ts';

export interface World {
  readonly origin: string;
  readonly admin: string;
  readonly school: School;
  readonly data: string;
  /** Stops the gate and starts it again on the same data, with new overrides if given. */
  restart(overrides?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Reloads the configuration of the running gate with new overrides. */
  reload(overrides: Readonly<Record<string, unknown>>): Promise<Reload>;
  /** Stops the gate, runs `work` on its stored data, and starts it again. */
  whileStopped<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly profile: string;
  readonly clock?: () => number;
  /** The school's clock; the gate's clock by default. */
  readonly schoolClock?: () => number;
  /** The day from which the school computes the dates of its data. */
  readonly today?: Date;
  /** Where client ID metadata documents are fetched from. */
  readonly documentNetwork?: DocumentNetwork;
  /** The data folder of a closed world, to continue with its store under another origin; a new folder by default. */
  readonly data?: string;
  /** The gate's log; silent by default. */
  readonly log?: Log;
  /** What is served at /mcp; the configured tools by default. */
  readonly mcpServer?: ServerFactory;
  /** The file descriptor of the access log; by default there is none. */
  readonly accessDescriptor?: number;
  /** Variables that the configuration reads, in addition to profile, ports and data folder. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Changes the demo's configuration where overrides cannot: they add keys, but remove none. */
  readonly adjust?: (config: LoadedConfig['config']) => LoadedConfig['config'];
  /** Overrides for the demo's configuration. */
  readonly overrides?: Readonly<Record<string, unknown>> & { readonly upstreams?: Readonly<Record<string, unknown>> };
}

const NO_LIMITS = { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' };

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

/** The demo's gate and school on free ports, with a separate store: the parts of the real processes, over real HTTP. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { profile, clock = Date.now, schoolClock = clock, environment = {} } = options;
  let { overrides = {} } = options;
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'coursegate-world-'));
  const school = await startSchoolWithEcho({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock: schoolClock,
    ...(options.today === undefined ? {} : { today: options.today }),
  });
  const { urls } = school;
  const load = async (): Promise<LoadedConfig> => {
    const loaded = await read();
    return { ...loaded, config: options.adjust?.(loaded.config) ?? loaded.config };
  };
  const read = (): Promise<LoadedConfig> => {
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
        // Tests send more requests in a minute than a caller may. Tests of the limits override this.
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
 * The origin is part of the configuration, so the port must be known before anything listens. It is below the kernel's
 * ephemeral range (from 32768), so that no outgoing connection of another test can take it in the meantime.
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
