import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from '../../support/missing.ts';
import { freePort } from '../../support/world.ts';
import type { OverridePlace } from './overrides.ts';

/** The settings of a drop-in for the gate. */
export interface GateSettings {
  readonly origin: string;
  /** Where the gate's pages are; without it, at `origin`. */
  readonly pagesOrigin?: string;
  readonly upstream: string;
  readonly secret: string;
  readonly jwksUrl: string;
  /** The admin listener and its secret; without them, no events are sent. */
  readonly admin?: string;
  readonly adminSecret?: string;
  /** The key with which the gate asks whether a member still exists. */
  readonly memberKey?: string;
  /** Whether to refuse assertions that are not made for one request. */
  readonly boundOnly?: boolean;
}

/** A backend in a separate process. */
export interface Backend {
  readonly url: string;
  /** Runs a command in the environment of the server, with these changes to it, and with this input. */
  run(
    command: readonly [string, ...string[]],
    options?: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> },
  ): Promise<{ readonly code: number | string; readonly output: string }>;
  close(): Promise<void>;
}

/** How a framework's test application is started. */
export interface Framework {
  readonly name: string;
  /** Exits with 0 if everything is installed. */
  readonly probe: readonly [string, ...string[]];
  readonly install: string;
  /** Not a Debian package: CI skips it if it is missing. */
  readonly elsewhere?: true;
  /** Takes a port and where the applications are. Returns the server's command, and one to run first, if any. */
  commands(place: { port: number; app: (path: string) => string }): {
    readonly prepare?: readonly [string, ...string[]];
    readonly serve: readonly [string, ...string[]];
  };
  /** What reads the drop-in's settings, and exits if one is wrong; the server by default. */
  readonly readSettings?: (app: (path: string) => string) => readonly [string, ...string[]];
  /** The field names of its login form, if they are not `username` and `password`. */
  readonly fields?: { readonly username: string; readonly password: string };
  /** Where the framework reads method overrides by default; undefined if nowhere. */
  readonly overrides?: readonly OverridePlace[];
  /** The path below which the test application is mounted as well; undefined if it is not. */
  readonly mount?: string;
  /** Whether some servers hide the path as it was sent: the test's does, if it is sent `X-Test-Hide-Path`. */
  readonly mayHidePath?: true;
  /** Whether it knows which email addresses are verified: in the test application, SAM's is and OLU's is not. */
  readonly verifiesEmail?: true;
  /** The field of its login form for "remember me", and the cookie that signs the member in later without a password. */
  readonly remember?: { readonly field: string; readonly cookie: RegExp };
  /** What an operator runs on the server to give a member a new password, by name. */
  readonly console?: Readonly<
    Record<string, (app: (path: string) => string, member: string, fresh: string) => ConsoleCommand>
  >;
  /** The fields of its form for a new password. */
  readonly newPassword: (old: string, fresh: string) => Record<string, string>;
}

interface ConsoleCommand {
  readonly command: readonly [string, ...string[]];
  readonly input?: string;
}

export const SAM = { id: '1', username: 'sam', password: 'correct horse battery', email: 'sam@example.com' } as const;
export const OLU = { id: '2', username: 'olu', password: 'staple for the other', email: 'olu@example.com' } as const;

/** A name that breaks carelessly built queries. */
export const SAM_NAME = "Renée & external_id=2 O'Neil, 1+1%";

const present = new Set<Framework>();

/**
 * Whether a framework's tests run. If it is not installed, they are skipped by name, with what to install. In CI they fail
 * instead, since a green run must mean that they ran.
 */
export function frameworkPresent(framework: Framework): boolean {
  const {
    name,
    probe: [command, ...args],
    install,
  } = framework;
  if (present.has(framework) || spawnSync(command, args, { stdio: 'ignore' }).status === 0) {
    present.add(framework);
    return true;
  }
  return missing(`${name} is not there: its drop-in's tests need it (${install})`, framework.elsewhere === true);
}

type Run = (...given: Parameters<Backend['run']>) => {
  readonly ended: Promise<number | string>;
  readonly output: () => string;
};

/** Where a file of the test applications is. */
export const applicationFile = (path: string) => fileURLToPath(new URL(`../apps/${path}`, import.meta.url));

/** Starts a framework's test application and waits until it responds. Rejects with its output if it exits instead. */
export async function startBackend(framework: Framework, gate: GateSettings): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-backend-'));
  const port = await freePort();
  const { prepare, serve } = framework.commands({ port, app: applicationFile });
  const options = {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? folder,
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      PORT: String(port),
      DATA: folder,
      INTEGRATIONS: fileURLToPath(new URL('../../../integrations', import.meta.url)),
      COURSEGATE_ORIGIN: gate.origin,
      COURSEGATE_PAGES_ORIGIN: gate.pagesOrigin ?? '',
      COURSEGATE_UPSTREAM: gate.upstream,
      COURSEGATE_BRIDGE_SECRET: gate.secret,
      COURSEGATE_JWKS_URL: gate.jwksUrl,
      COURSEGATE_FETCH_PAUSE: '1',
      COURSEGATE_ADMIN: gate.admin ?? '',
      COURSEGATE_ADMIN_SECRET: gate.adminSecret ?? '',
      COURSEGATE_KEY: gate.memberKey ?? '',
      COURSEGATE_BOUND_ONLY: String(gate.boundOnly ?? false),
      SAM_NAME,
    },
  };
  const running: ChildProcess[] = [];
  const run: Run = ([command, ...args], { input = '', environment = {} } = {}) => {
    const env = { ...options.env, ...environment };
    const child = spawn(command, args, { ...options, env, stdio: 'pipe', detached: true });
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
      });
    }
    running.push(child);
    const ended = new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
    });
    return { ended, output: () => output };
  };
  const close = async () => {
    await Promise.all(
      running.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
        const gone = new Promise((resolve) => child.once('close', resolve));
        // The whole process group, because some servers have child processes.
        process.kill(-child.pid, 'SIGKILL');
        await gone;
      }),
    );
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    if (prepare !== undefined) {
      const { ended, output } = run(prepare);
      const code = await ended;
      if (code !== 0) throw new Error(`${framework.name} could not be prepared (${code}): ${output()}`);
    }
    const url = `http://127.0.0.1:${port}`;
    const { ended, output } = run(serve);
    let over: number | string | undefined;
    ended.then(
      (code) => {
        over = code;
      },
      (thrown) => {
        over = String(thrown);
      },
    );
    while (!(await answers(url))) {
      if (over !== undefined) throw new Error(`${framework.name} did not start (${over}): ${output()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return {
      url,
      async run(command, given) {
        const { ended, output } = run(command, given);
        return { code: await ended, output: output() };
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/probe`, { signal: AbortSignal.timeout(30_000) })).status === 200;
  } catch {
    return false;
  }
}
