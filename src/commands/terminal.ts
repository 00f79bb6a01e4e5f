import { EXIT } from './exit-codes.ts';

/** A command's access to the process: input, output and exit code. */
export type Terminal = ReturnType<typeof processTerminal>;

/**
 * `plain` says whether `--no-color` was given; it is called once the command line is parsed. The variable NO_COLOR has
 * the same effect (no-color.org), and FORCE_COLOR asks for colours where there is no terminal.
 */
export function processTerminal(plain: () => boolean) {
  const { stdin, stdout, stderr, env } = process;
  for (const stream of [stdout, stderr]) stream.on('error', endUnread);
  const print = (text: string) => void stdout.write(text);
  // The order of Node's own check, and of no-color.org: what turns colours off counts more.
  const shows = (stream: NodeJS.WriteStream) =>
    !plain() &&
    !env.NO_COLOR &&
    (!['', '0', 'false'].includes(env.FORCE_COLOR ?? '') || (stream.isTTY === true && env.TERM !== 'dumb'));
  return {
    environment: env,
    /** Prints a line of the result, on standard output. */
    say: (line: string) => print(`${line}\n`),
    /** Prints text of the result without adding a newline. */
    print,
    /** Text in a colour of standard output, if it shows any: the number of an SGR sequence, such as 32 for green. */
    paint: (code: number, text: string) => (shows(stdout) ? painted(code, text) : text),
    /** The same for standard error. */
    paintMessage: (code: number, text: string) => (shows(stderr) ? painted(code, text) : text),
    /** Prints a message that is not part of the result, on standard error. */
    tell: (line: string) => void stderr.write(`${line}\n`),
    /** Sets the exit code, which is 0 by default. */
    end: (code: number): void => {
      process.exitCode = code;
    },
    input: stdin,
    /** Standard output: its columns, and whether it supports colours and they are not turned off. */
    width: stdout.columns || 80,
    colour: () => shows(stdout),
    /** Standard error, for progress bars. */
    progress: {
      live: stderr.isTTY === true && env.TERM !== 'dumb',
      /** Columns now: windows change their size. */
      width: () => stderr.columns || 80,
      write: (text: string) => void stderr.write(text),
    },
    /** Whether the operator can be asked: standard input and standard error are terminals. */
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    /** Asks on standard error. Enter alone means `otherwise`. */
    async confirm(question: string, otherwise: boolean): Promise<boolean> {
      const { createInterface } = await import('node:readline/promises');
      const terminal = createInterface({ input: stdin, output: stderr });
      // Without an answer, as after Ctrl-C or Ctrl-D, there is none to wait for.
      const closed = new Promise<undefined>((resolve) => terminal.once('close', () => resolve(undefined)));
      const asked = terminal.question(`${question} ${otherwise ? '[Y/n]' : '[y/N]'} `).catch(() => undefined);
      const answer = (await Promise.race([asked, closed]))?.trim();
      terminal.close();
      if (answer === undefined) stderr.write('\n');
      return answer === '' ? otherwise : /^y/i.test(answer ?? '');
    },
    /** Aborts on the first SIGINT. A second one ends the process. */
    interrupted(): AbortSignal {
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      return stop.signal;
    },
  };
}

/** Ends quietly when the reader of the output has gone, as in `| head -1`. Other programs end by SIGPIPE, which Node ignores. */
function endUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.unread);
}

const painted = (code: number, text: string): string => `\u001b[${code}m${text}\u001b[0m`;
