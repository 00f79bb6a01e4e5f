import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';

/** As much as our sign-in page takes. */
const LONGEST = 1024;

/**
 * Reads a password: the first line of the input, without its end. On a terminal nothing is echoed. Throws when there is
 * none, or when nobody could sign in with it.
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
