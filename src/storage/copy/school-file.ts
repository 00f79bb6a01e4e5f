import { type KeyObject, randomBytes } from 'node:crypto';
import { open as openFile, rm } from 'node:fs/promises';
import { open, seal } from '../cipher.ts';
import { draftOf, publish } from '../new-file.ts';
import { deriveKey } from '../seal.ts';
import type { StoredEntry } from '../store.ts';
import type { CopiedStore } from './entries.ts';
import type { MoveSecrets } from './move-secrets.ts';

/*
 * A line with the version, 16 random bytes, and frames: four bytes with the length, and so many bytes of a sealed text. The
 * key is derived from the secret that both sides have and from the random bytes. The context of a frame is its number, and
 * whether it is the last one: none can be changed, left out, repeated or moved, and no file can end early. The first frame is
 * the header, the others are entries, sealed as they are stored.
 */
const MAGIC = Buffer.from('coursegate school 1\n');
const SALT = 16;
/** Characters of a frame, unless one entry has more, and the most bytes that are read for one. */
const FRAME = 256 * 1024;
const LONGEST = 16 * FRAME;

/** What a file says of its school. */
export interface SchoolFileHeader extends MoveSecrets {
  readonly origin: string;
}

/** A school in a file. */
export interface SchoolFile extends Pick<CopiedStore, 'pages'> {
  readonly header: SchoolFileHeader;
}

/** Writes a file that only its owner can read. Throws Error if it exists already. */
export async function writeSchoolFile(
  path: string,
  secret: string,
  header: SchoolFileHeader,
  pages: AsyncIterable<readonly StoredEntry[]>,
): Promise<void> {
  const draft = draftOf(path);
  const file = await openFile(draft, 'wx', 0o600);
  try {
    const salt = randomBytes(SALT);
    const key = keyOf(secret, salt);
    let number = 0;
    const frame = async (value: unknown, isLast = false): Promise<void> => {
      const sealed = Buffer.from(seal(key, JSON.stringify(value), contextOf(number, isLast)));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(sealed.length);
      await file.appendFile(Buffer.concat([length, sealed]));
      number += 1;
    };
    await file.appendFile(Buffer.concat([MAGIC, salt]));
    await frame(header);
    for await (const page of pages) for (const some of portions(page)) await frame(some);
    await frame([], true);
    await file.sync();
    publish(draft, path);
  } catch (thrown) {
    throw (thrown as NodeJS.ErrnoException).code === 'EEXIST'
      ? new Error(`${path} is there already, and is not overwritten. Name another file.`)
      : thrown;
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/**
 * Opens a file once all of it was read: what is damaged, shortened, or sealed with another secret is refused as a whole.
 * Throws Error.
 */
export async function openSchoolFile(path: string, secret: string): Promise<SchoolFile> {
  let header: unknown;
  for await (const frame of framesOf(path, secret)) header ??= frame;
  return {
    header: header as SchoolFileHeader,
    async *pages(progress) {
      const frames = framesOf(path, secret);
      await frames.next();
      let done = 0;
      for await (const frame of frames) {
        const page = frame as readonly StoredEntry[];
        yield page;
        done += page.length;
        progress?.at(done);
      }
      progress?.done();
    },
  };
}

/** Yields what the frames hold, in order. Throws Error unless each is as it was written, up to the last one. */
async function* framesOf(path: string, secret: string): AsyncGenerator<unknown, undefined> {
  const file = await openFile(path, 'r');
  try {
    const { size } = await file.stat();
    let at = 0;
    const read = async (length: number): Promise<Buffer> => {
      const buffer = Buffer.alloc(at + length > size ? 0 : length);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      at += length;
      return buffer.subarray(0, bytesRead);
    };
    const start = await read(MAGIC.length + SALT);
    if (!start.subarray(0, MAGIC.length).equals(MAGIC))
      throw new Error(`${path} is not the export of a school, or of another version.`);
    const key = keyOf(secret, start.subarray(MAGIC.length));
    for (let number = 0; number === 0 || at < size; number += 1) {
      const length = await read(4);
      const sealed =
        length.length === 4 && length.readUInt32BE() <= LONGEST ? await read(length.readUInt32BE()) : length;
      yield JSON.parse(opened(key, sealed.toString('latin1'), contextOf(number, at >= size), path));
    }
    return undefined;
  } finally {
    await file.close();
  }
}

function opened(key: KeyObject, sealed: string, context: string, path: string): string {
  try {
    return open(key, sealed, context);
  } catch {
    throw new Error(`${path} is damaged or not whole, or was encrypted with another secret: nothing was imported.`);
  }
}

function keyOf(secret: string, salt: Buffer): KeyObject {
  return deriveKey(secret, `school-file ${salt.toString('hex')}`);
}

function contextOf(number: number, isLast: boolean): string {
  return `${number} ${isLast}`;
}

/** Entries in portions that are not too long to be sent or held at once. */
export function* portions(entries: readonly StoredEntry[]): Generator<readonly StoredEntry[]> {
  let some: StoredEntry[] = [];
  let length = 0;
  for (const entry of entries) {
    if (some.length > 0 && length + entry.payload.length > FRAME) {
      yield some;
      [some, length] = [[], 0];
    }
    some.push(entry);
    length += entry.payload.length + 500;
  }
  if (some.length > 0) yield some;
}
