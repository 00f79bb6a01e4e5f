import { spawn } from 'node:child_process';

export interface PseudoTerminal {
  /** Types characters, such as `y\n`, or `\u0003` for Ctrl-C. */
  type(keys: string): void;
  /** Resolves when what was printed so far matches; rejects when the command ends first. */
  shows(pattern: RegExp): Promise<string>;
  /** Everything that was printed, with the escape sequences. */
  readonly output: () => string;
  readonly exited: Promise<number>;
}

/**
 * Runs a command line of a shell in a pseudo-terminal that util-linux's script(1) opens, with its standard input, output
 * and error.
 */
export function runInTerminal(
  line: string,
  { columns = 80, environment = {} }: { columns?: number; environment?: Readonly<Record<string, string>> } = {},
): PseudoTerminal {
  const child = spawn('script', ['-qec', `stty cols ${columns} rows 40; ${line}`, '/dev/null'], {
    env: {
      PATH: process.env.PATH ?? '',
      SHELL: '/bin/sh',
      TERM: 'xterm-256color',
      npm_command: 'exec',
      ...environment,
    },
  });
  let output = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    for (const watcher of watchers) watcher();
  });
  const exited = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)));
  return {
    type: (keys) => void child.stdin.write(keys),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(output)) return;
          watchers.delete(look);
          resolve(output);
        };
        watchers.add(look);
        look();
        exited.then((code) => reject(new Error(`ended with ${code}: ${output}`)), reject);
      }),
    output: () => output,
    exited,
  };
}

/** Text without the sequences that colour it or move the cursor. */
export function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  return text.replace(/\u001b\[[\d;?]*[A-Za-z]|\r/g, '');
}
