import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { School } from '../../src/operator/demo/school.ts';
import { type Command, runCommand } from '../support/command.ts';
import { startSchoolWithEcho } from '../support/echo-socket.ts';
import { freePort } from '../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

/** These tests send more requests per minute from one address than the limits allow. */
const NO_LIMITS = {
  COURSEGATE__LIMITS__ADDRESS: 'unlimited',
  COURSEGATE__LIMITS__MEMBER: 'unlimited',
  COURSEGATE__LIMITS__CLIENT: 'unlimited',
  COURSEGATE__LIMITS__ATTEMPTS: 'unlimited',
  COURSEGATE__LIMITS__OPEN: '{ address: 100000, member: 100000 }',
};

/** The real gate as a separate process in front of the demo's school, with a store that outlives it. */
export interface GateProcess {
  readonly origin: string;
  /** The address of this process; behind a balancer it differs from the origin. */
  readonly listens: string;
  readonly admin: string;
  readonly data: string;
  /** The id of the current process. */
  readonly pid: () => number;
  start(): Promise<void>;
  /** Sends SIGKILL. Resolves once the process is gone. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly exited: () => Promise<number | NodeJS.Signals>;
  /** The log of the current process. */
  readonly log: () => string;
  /** The log of the process that was killed last. */
  readonly lastLog: () => string;
  /** The output of the current process on stdout and stderr. */
  readonly output: () => string;
  close(): Promise<void>;
}

export interface GateProcessOptions {
  readonly profile?: string;
  readonly data?: string;
  /** The origin of the balancer in front; by default the gate's own address. */
  readonly origin?: string;
  /** A school shared with other gates; by default the gate has its own. */
  readonly school?: School;
  /** Environment variables for the configuration. Limits are off unless they are set here. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How it is run; as a usual process by default. */
  readonly run?: typeof runCommand;
}

export async function gateProcess(options: GateProcessOptions = {}): Promise<GateProcess> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const listens = `http://localhost:${port}`;
  const origin = options.origin ?? listens;
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'coursegate-faults-'));
  const school = options.school ?? (await schoolOf(origin));
  let command: Command | undefined;
  let lastLog = '';
  const kill = async () => {
    command?.signal('SIGKILL');
    await command?.exited;
    lastLog = command?.stderr() ?? lastLog;
    command = undefined;
  };
  return {
    origin,
    listens,
    admin: `http://127.0.0.1:${adminPort}`,
    data,
    kill,
    signal: (signal) => command?.signal(signal),
    exited: async () => (await command?.exited) ?? 0,
    pid: () => command?.pid ?? 0,
    log: () => command?.stderr() ?? '',
    lastLog: () => lastLog,
    output: () => `${command?.stdout() ?? ''}${command?.stderr() ?? ''}`,
    async start() {
      const environment = {
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        COURSEGATE_PROFILE: options.profile ?? 'A',
        COURSEGATE__ORIGIN: origin,
        COURSEGATE_DATA: data,
        COURSEGATE__UPSTREAMS__SCHOOL__URL: school.urls.school,
        COURSEGATE__UPSTREAMS__PROGRESS__URL: school.urls.progress,
        COURSEGATE__UPSTREAMS__EVENTS__URL: school.urls.events,
        ...NO_LIMITS,
        ...options.environment,
      };
      command = (options.run ?? runCommand)(['serve', '--config', CONFIG], environment);
      await command.line(/^coursegate ready/);
    },
    async close() {
      await kill();
      if (options.school === undefined) await school.close();
      if (options.data === undefined) rmSync(data, { recursive: true, force: true });
    },
  };
}

/** The demo's school, which accepts the assertions of the gate at `origin`. */
export function schoolOf(origin: string): Promise<School> {
  return startSchoolWithEcho({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
  });
}
