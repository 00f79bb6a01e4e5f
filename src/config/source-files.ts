import { createHash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { resolve as resolvePath } from 'node:path';

/** A file has more bytes than are taken. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
  readonly size: number;

  constructor(path: string, size: number) {
    super(`${path} has ${size} bytes`);
    this.size = size;
  }
}

/**
 * The one way to the files that a configuration is made of: the operator's, and every one that is named in it. It
 * remembers which they were and what was in them, so that a change of any is noticed. Paths are as they are written in
 * the configuration; what cannot be read throws the error of node:fs.
 */
export interface SourceFiles {
  /** Out: the absolute path. */
  resolve(path: string): string;
  text(path: string): Promise<string>;
  /** Throws FileTooLarge, having read nothing, for more than `most` bytes. */
  bytes(path: string, most: number): Promise<Buffer>;
  /** The names in a folder. */
  names(folder: string): Promise<readonly string[]>;
  /** The absolute paths of what was asked for until now, whether it was there or not. */
  asked(): readonly Asked[];
  /** A hash of what was read until now. In: what it is keyed with, for secrets are among it. */
  fingerprint(key: (digest: string) => string): string;
  /** Whether all of it is now as it was when it was read. */
  areUnchanged(): Promise<boolean>;
}

interface Asked {
  readonly path: string;
  /** A folder whose names were asked for, or a file. */
  readonly kind: 'file' | 'folder';
}

interface Seen extends Asked {
  readonly stamp: string;
  readonly most: number;
}

/** In: the folder that paths are written against. */
export function sourceFiles(folder: string): SourceFiles {
  const seen = new Map<string, Seen>();
  const resolve = (path: string) => resolvePath(folder, path);

  const note = async <T>(asked: Omit<Seen, 'stamp'>, read: () => Promise<T>, stampOf: (got: T) => string) => {
    const remember = (stamp: string) => seen.set(asked.path, { ...asked, stamp });
    try {
      const got = await read();
      remember(stampOf(got));
      return got;
    } catch (thrown) {
      remember(stampOfFailure(thrown));
      throw thrown;
    }
  };
  const bytes = (path: string, most: number): Promise<Buffer> =>
    note({ path: resolve(path), kind: 'file', most }, () => readAtMost(resolve(path), most), stampOfBytes);

  return {
    resolve,
    text: async (path) => (await bytes(path, Number.POSITIVE_INFINITY)).toString('utf8'),
    bytes,
    names: (path) => note({ path: resolve(path), kind: 'folder', most: 0 }, () => readdir(resolve(path)), stampOfNames),
    asked: () => [...seen.values()],
    fingerprint(key) {
      const all = [...seen.values()].map(({ path, stamp }) => `${path} ${stamp}`).toSorted();
      return key(stampOfBytes(Buffer.from(all.join('\n'))));
    },
    async areUnchanged() {
      const all = [...seen.values()];
      const now = await Promise.all(all.map(stampNow));
      return all.every(({ stamp }, at) => stamp === now[at]);
    },
  };
}

async function readAtMost(path: string, most: number): Promise<Buffer> {
  if (most === Number.POSITIVE_INFINITY) return readFile(path);
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > most) throw new FileTooLarge(path, size);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function stampNow({ path, kind, most }: Seen): Promise<string> {
  const stamp = kind === 'folder' ? readdir(path).then(stampOfNames) : readAtMost(path, most).then(stampOfBytes);
  return stamp.catch(stampOfFailure);
}

function stampOfBytes(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url');
}

function stampOfNames(names: readonly string[]): string {
  return names.toSorted().join('/');
}

function stampOfFailure(thrown: unknown): string {
  return thrown instanceof FileTooLarge ? `${thrown.size} bytes` : String((thrown as NodeJS.ErrnoException).code);
}
