import { createInterface } from 'node:readline/promises';

/** A command's access to the process: input, output and exit code. */
export type Terminal = ReturnType<typeof processTerminal>;

/**
 * `plain` says whether `--no-color` was given; it is called once the command line is parsed. The variable NO_COLOR has
 * the same effect (no-color.org).
 */
export function processTerminal(plain: () => boolean) {
  const { stdin, stdout, stderr, env } = process;
  const print = (text: string) => void stdout.write(text);
  const shows = (stream: NodeJS.WriteStream) =>
    stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' && !plain();
  return {
    environment: env,
    /** Prints a line of the result, on standard output. */
    say: (line: string) => print(`${line}\n`),
    /** Prints text of the result without adding a newline. */
    print,
    /** Prints a message that is not part of the result, on standard error. */
    tell: (line: string) => void stderr.write(`${line}\n`),
    /** Sets the exit code, which is 0 by default. */
    end: (code: number): void => {
      process.exitCode = code;
    },
    input: stdin,
    /** Standard output: its columns, and whether it supports colours and they are not turned off. */
    width: stdout.columns ?? 80,
    colour: () => shows(stdout),
    /** Standard error, for progress bars. */
    progress: {
      live: stderr.isTTY === true && env.TERM !== 'dumb',
      width: stderr.columns ?? 80,
      write: (text: string) => void stderr.write(text),
    },
    /** Whether the operator can be asked: standard input and standard error are terminals. */
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    /** Asks on standard error. Enter alone means `otherwise`. */
    async confirm(question: string, otherwise: boolean): Promise<boolean> {
      const terminal = createInterface({ input: stdin, output: stderr });
      const answer = (await terminal.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `)).trim();
      terminal.close();
      return answer === '' ? otherwise : /^y/i.test(answer);
    },
    /** Aborts on the first SIGINT. A second one ends the process. */
    interrupted(): AbortSignal {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      return stop.signal;
    },
  };
}
