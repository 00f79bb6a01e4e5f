import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';

/** The same limit as on the sign-in page. */
const LONGEST = 1024;

/**
 * Reads a password from the first line of the input. On a terminal nothing is echoed. Throws if there is none or it is
 * too long to sign in with.
 */
export async function readPassword(input: Pick<ReadStream, 'isTTY'> & NodeJS.ReadableStream): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: silent, terminal: input.isTTY === true });
  try {
    for await (const line of lines) {
      if (line === '') break;
      if (line.length > LONGEST) throw new Error(`A password has at most ${LONGEST} characters.`);
      return line;
    }
    throw new Error('There is no password on stdin.');
  } finally {
    lines.close();
  }
}
