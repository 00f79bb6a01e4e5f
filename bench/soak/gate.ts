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

/** How often a gate is started before the soak gives up. */
const STARTS = 10;

/** Counted as always, and never met: the load is one machine's. */
const UNMET = '{ requests: 1000000000, per: 1m }';

export interface Sample extends Held {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Descriptors the process has open. */
  readonly descriptors: number;
  /** Bytes of the embedded store's files; 0 on another one. */
  readonly stored: number;
}

/** A gate as a process of its own, which can be asked what it holds. */
export interface SoakGate {
  readonly listens: string;
  readonly port: number;
  readonly admin: string;
  readonly adminPort: number;
  /** Of the process that runs now. */
  readonly pid: () => number;
  start(): Promise<void>;
  sample(question?: Partial<Question>): Promise<Sample>;
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>;
  /** How it ended if nobody here ended it, as each of its runs did. */
  readonly ends: () => readonly string[];
  /** Lines of its log at `error` or above, each once. */
  readonly errors: () => readonly string[];
  /** SIGTERM. Out: the exit code. */
  stop(): Promise<number | null>;
}

export interface SoakGateOptions {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  /** Where clients find it. */
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

  /** Out: whether it became ready; else it has ended. */
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
      // As a supervisor would: a gate that finds its store too slow to begin on is started again.
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
      throw new Error(`${name} does not say what it holds`);
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

/** pino's levels: 50 is error. A line that is no record is one of Node's own, and never meant well. */
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
