import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/world.ts';
import type { Held, Question } from './probe.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const MAIN = path('../../src/main.ts');
const CONFIG = path('../../config/coursegate.yaml');
const PROBE = new URL('probe.ts', import.meta.url).href;

/** Number of attempts to start a gate before the soak gives up. */
const STARTS = 10;

/** Limits are counted as usual but never reached, because all the load comes from one address. */
const UNMET = '{ requests: 1000000000, per: 1m }';

export interface Sample extends Held {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Open file descriptors of the process. */
  readonly descriptors: number;
  /** Size of the embedded store's files, in bytes; 0 with another store. */
  readonly stored: number;
}

/** A gate in a separate process that reports its memory, descriptors and objects on request. */
export interface SoakGate {
  readonly listens: string;
  readonly port: number;
  readonly admin: string;
  readonly adminPort: number;
  /** Of the current process. */
  readonly pid: () => number;
  start(): Promise<void>;
  sample(question?: Partial<Question>): Promise<Sample>;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /** Runs that ended without being stopped or killed by the soak, and how. */
  readonly ends: () => readonly string[];
  /** Distinct log lines at level `error` or above. */
  readonly errors: () => readonly string[];
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

export interface SoakGateOptions {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** The origin that clients use. */
  readonly origin: string;
  readonly environment: Readonly<Record<string, string>>;
}

export async function soakGate({ name, folder, port, origin, environment }: SoakGateOptions): Promise<SoakGate> {
  const adminPort = await freePort();
  const listens = `http://localhost:${port}`;
  const [probe, log, output] = [
    join(folder, `${name}.probe`),
    join(folder, `${name}.log`),
    join(folder, `${name}.out`),
  ];
  const data = join(folder, `${name}-data`);
  const ends: string[] = [];
  let child: ChildProcess | undefined;
  let asked = 0;

  const gone = async (signal: NodeJS.Signals): Promise<number | null> => {
    const dying = child;
    child = undefined;
    if (dying === undefined || dying.exitCode !== null || dying.signalCode !== null) return null;
    const code = new Promise<number | null>((resolve) => dying.once('exit', resolve));
    dying.kill(signal);
    return code;
  };

  /** Returns whether it became ready; if not, it has ended. */
  const begun = async (): Promise<boolean> => {
    const [out, err] = [openSync(output, 'w'), openSync(log, 'a')];
    const started = spawn(process.execPath, [MAIN, 'serve', '--config', CONFIG], {
      stdio: ['ignore', out, err],
      env: {
        PATH: process.env.PATH ?? '',
        NODE_OPTIONS: `--expose-gc --disable-warning=ExperimentalWarning --import=${PROBE}`,
        SOAK_PROBE: probe,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        COURSEGATE_PROFILE: 'A',
        COURSEGATE_DATA: data,
        COURSEGATE__ORIGIN: origin,
        COURSEGATE__LOG__ACCESS: 'true',
        COURSEGATE__LIMITS__ADDRESS: UNMET,
        COURSEGATE__LIMITS__MEMBER: UNMET,
        COURSEGATE__LIMITS__CLIENT: UNMET,
        COURSEGATE__LIMITS__ATTEMPTS: UNMET,
        COURSEGATE__LIMITS__OPEN: '{ address: 100000, member: 100000 }',
        COURSEGATE__CLIENTS__REGISTRATION: '{ perAddressPerMinute: 1000000, perDay: 1000000 }',
        ...environment,
      },
    });
    for (const descriptor of [out, err]) closeSync(descriptor);
    child = started;
    let ready = false;
    started.once('exit', (code, signal) => {
      if (child !== started) return;
      child = undefined;
      if (ready) ends.push(`${name} ended by itself with ${code ?? signal}`);
    });
    while (child === started && !ready) {
      ready = readFileSync(output, 'latin1').includes('coursegate ready');
      if (!ready) await sleep(50);
    }
    return ready;
  };

  return {
    listens,
    port,
    admin: `http://127.0.0.1:${adminPort}`,
    adminPort,
    pid: () => child?.pid ?? 0,
    ends: () => ends,
    kill: async () => void (await gone('SIGKILL')),
    stop: () => gone('SIGTERM'),
    errors: () => errorsOf(log),
    async start() {
      // Restarts the gate as a supervisor would, because it exits if its store is too slow at startup.
      for (let tries = 1; ; tries += 1) {
        if (await begun()) return;
        if (tries === STARTS) throw new Error(`${name} does not start: ${readFileSync(log, 'latin1').slice(-2000)}`);
      }
    },
    async sample(question = {}) {
      const pid = child?.pid;
      if (pid === undefined) throw new Error(`${name} does not run`);
      asked += 1;
      writeFileSync(`${probe}.question`, JSON.stringify({ deep: false, ...question, number: asked }));
      child?.kill('SIGUSR2');
      for (let tries = 0; tries < 3000; tries += 1) {
        const held = answerAt(probe);
        if (held?.number === asked) {
          return { ...held, at: Date.now(), descriptors: readdirSync(`/proc/${pid}/fd`).length, stored: sizeOf(data) };
        }
        await sleep(10);
      }
      throw new Error(`${name} did not write a sample`);
    },
  };
}

function answerAt(file: string): Held | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Held;
  } catch {
    return undefined;
  }
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}

/** Level 50 of pino is `error`. A line that is not a JSON record comes from Node itself and counts as an error. */
function errorsOf(log: string): readonly string[] {
  const found = new Set<string>();
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    if (!line.startsWith('{')) found.add(line.slice(0, 300));
    else {
      const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } };
      if (level >= 50) found.add(`${msg}: ${err?.message ?? ''}`.slice(0, 300));
    }
  }
  return [...found];
}
