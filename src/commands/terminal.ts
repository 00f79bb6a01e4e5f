import { createInterface } from 'node:readline/promises';
import type { Environment } from '../config/setting.ts';

/** What a command has of the process it runs in: where it reads and prints, and how it ends. */
export interface Terminal {
  readonly environment: Environment;
  /** Prints a line of the result, on standard output. */
  readonly say: (line: string) => void;
  /** Prints a text of the result as it is. */
  readonly print: (text: string) => void;
  /** Tells a person something that is not the result, on standard error. */
  readonly tell: (line: string) => void;
  /** The exit code, once there is nothing left to do; 0 without it. */
  readonly end: (code: number) => void;
  readonly input: NodeJS.ReadStream;
  /** Standard output: how many columns it has, and whether it shows colours and somebody wants them. */
  readonly width: number;
  readonly colour: () => boolean;
  /** Standard error, for what shows how far a long work is. */
  readonly progress: { readonly live: boolean; readonly width: number; readonly write: (text: string) => void };
  /** Whether somebody can be asked: both ends are a terminal. */
  readonly interactive: boolean;
  /** Asks on standard error; Enter alone is `otherwise`. */
  readonly confirm: (question: string, otherwise: boolean) => Promise<boolean>;
  /** Aborts at the first SIGINT; a second one ends the process as always. */
  readonly interrupted: () => AbortSignal;
}

/** In: whether `--no-color` was given, asked when it is known. The variable NO_COLOR says the same (no-color.org). */
export function processTerminal(plain: () => boolean): Terminal {
  const { stdin, stdout, stderr, env } = process;
  const print = (text: string) => void stdout.write(text);
  const shows = (stream: NodeJS.WriteStream) =>
    stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' && !plain();
  return {
    environment: env,
    say: (line) => print(`${line}\n`),
    print,
    tell: (line) => void stderr.write(`${line}\n`),
    end: (code) => {
      process.exitCode = code;
    },
    input: stdin,
    width: stdout.columns ?? 80,
    colour: () => shows(stdout),
    progress: {
      live: stderr.isTTY === true && env.TERM !== 'dumb',
      width: stderr.columns ?? 80,
      write: (text) => void stderr.write(text),
    },
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    async confirm(question, otherwise) {
      const terminal = createInterface({ input: stdin, output: stderr });
      const answer = (await terminal.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `)).trim();
      terminal.close();
      return answer === '' ? otherwise : /^y/i.test(answer);
    },
    interrupted() {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      return stop.signal;
    },
  };
}
