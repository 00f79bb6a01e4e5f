import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { approveInBrowser } from './browser.ts';
import type { Client, Language, Profile } from './catalogue.ts';

/** Seconds that a program has for all its steps. */
const TIMEOUT = 90;

const STEPS = [
  'discover',
  'register',
  'authorize',
  'token',
  'id_token',
  'userinfo',
  'tools',
  'call',
  'account',
  'step-up',
  'expired-and-refreshed',
  'revoked',
] as const;

/** The steps after which a program does little but wait for the access token to expire. */
const BUSY_UNTIL = new Set(['token', 'tools', 'userinfo', 'account']);

/** What one program did in one profile. */
export interface Outcome {
  readonly steps: readonly string[];
  readonly version: string;
  readonly needs: readonly string[];
  /** The scopes that each of its authorization requests named. */
  readonly scopes: readonly string[];
  /** The authorization codes that it was given. */
  readonly codes: readonly string[];
  /** Why it failed; undefined if it succeeded. */
  readonly failure: string | undefined;
  /** The end of what it wrote, for the developer who looks into a failure. */
  readonly output: string;
}

export interface Run {
  readonly language: Language;
  readonly client: Client;
  readonly profile: Profile;
  readonly environment: Readonly<Record<string, string>>;
  /** The program's redirect URI. */
  readonly callback: string;
  /** Whether the member leaves the boxes of the first consent page as they are; later, and by default, all are ticked. */
  readonly asShown?: boolean;
  /** Called when the program has started and now mostly waits, and again when it has ended. */
  readonly settled: () => void;
}

/** Runs a client program by the protocol of README.md, and plays the member. */
export async function runProgram({
  language,
  client,
  environment,
  callback,
  asShown = false,
  settled,
}: Run): Promise<Outcome> {
  const [program = '', ...args] = client.command;
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: language.path,
    env: { ...inherited(), ...environment, CALLBACK: callback },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const seen = {
    steps: [] as string[],
    version: '',
    needs: [] as string[],
    scopes: [] as string[],
    codes: [] as string[],
    failure: undefined as string | undefined,
  };
  let output = '';
  const note = (text: string) => {
    output = (output + text).slice(-4000);
  };
  const fail = (reason: string) => {
    seen.failure ??= reason;
    stop(child);
  };
  const handlers: Record<string, (value: Record<string, unknown>) => void> = {
    step({ name }) {
      if (!STEPS.includes(name as never)) return fail(`it reports an unknown step: ${name}`);
      seen.steps.push(String(name));
      if (BUSY_UNTIL.has(String(name))) settled();
    },
    version({ library }) {
      seen.version = String(library);
    },
    needs({ lines }) {
      seen.needs.push(...(lines as string[]));
    },
    failed({ step, message }) {
      seen.failure ??= `${step}: ${message}`;
    },
    authorize({ url }) {
      const isFirst = seen.scopes.push(new URL(String(url)).searchParams.get('scope') ?? '') === 1;
      approveInBrowser(String(url), callback, asShown && isFirst)
        .then((arrival) => {
          seen.codes.push(new URL(arrival.url).searchParams.get('code') ?? '');
          if (!arrival.isHeard) child.stdin.write(`${arrival.url}\n`);
        })
        .catch((error: Error) => fail(`authorize: ${error.message}`));
    },
  };
  // A program that has ended does not read the callback.
  child.stdin.on('error', () => {});
  child.stderr.on('data', (chunk: Buffer) => note(chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, word = '', json = ''] = /^(\w+) (\{.*\})$/.exec(line) ?? [];
    try {
      if (Object.hasOwn(handlers, word)) handlers[word]?.(JSON.parse(json));
    } catch {
      fail(`it wrote a line that the protocol does not have: ${line}`);
    }
    if (word !== 'version' && word !== 'needs') note(`${line}\n`);
  });
  const timer = setTimeout(() => fail(`not finished after ${TIMEOUT} seconds`), TIMEOUT * 1000);
  const ended = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`));
  });
  clearTimeout(timer);
  settled();
  return { ...seen, failure: seen.failure ?? ended, output };
}

/** The harness's environment, without what would change how the programs behave. */
function inherited(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|NODE_|npm_|FORCE_COLOR|COURSEGATE)/.test(name),
  );
  return Object.fromEntries(kept);
}

function stop(child: ChildProcess): void {
  child.kill();
  setTimeout(() => child.kill('SIGKILL'), 1000).unref();
}
