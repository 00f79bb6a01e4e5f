import { createInterface } from 'node:readline/promises';
import type { Environment } from '../config/setting.ts';

/** A command's access to the process: input, output and exit code. */
export interface Terminal {
  readonly environment: Environment;
  /** Prints a line of the result, on standard output. */
  readonly say: (line: string) => void;
  /** Prints text of the result without adding a newline. */
  readonly print: (text: string) => void;
  /** Prints a message that is not part of the result, on standard error. */
  readonly tell: (line: string) => void;
  /** Sets the exit code, which is 0 by default. */
  readonly end: (code: number) => void;
  readonly input: NodeJS.ReadStream;
  /** Standard output: its columns, and whether it supports colours and they are not turned off. */
  readonly width: number;
  readonly colour: () => boolean;
  /** Standard error, for progress bars. */
  readonly progress: { readonly live: boolean; readonly width: number; readonly write: (text: string) => void };
  /** Whether the operator can be asked: standard input and standard error are terminals. */
  readonly interactive: boolean;
  /** Asks on standard error. Enter alone means `otherwise`. */
  readonly confirm: (question: string, otherwise: boolean) => Promise<boolean>;
  /** Aborts on the first SIGINT. A second one ends the process. */
  readonly interrupted: () => AbortSignal;
}

/**
 * `plain` says whether `--no-color` was given; it is called once the command line is parsed. The variable NO_COLOR has
 * the same effect (no-color.org).
 */
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
