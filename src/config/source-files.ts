import { hash } from 'node:crypto';
import { open, readdir, readFile } from 'node:fs/promises';
import { resolve as resolvePath } from 'node:path';
import { installedFiles, isAsset, readInstalled } from '../installation.ts';

/** A file is larger than the caller accepts. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
  readonly size: number;

  constructor(path: string, size: number) {
    super(`${path} has ${size} bytes`);
    this.size = size;
  }
}

/**
 * Reads the files a configuration is made of: the operator's file and every file it names. All of them are read through
 * here, which remembers their paths and hashes so that a change to any of them is noticed. Paths are given as written
 * in the configuration. A file that cannot be read throws the error of node:fs.
 */
export interface SourceFiles {
  /** The absolute path. */
  resolve(path: string): string;
  text(path: string): Promise<string>;
  /** @throws {FileTooLarge} without reading anything, when the file has more than `most` bytes. */
  bytes(path: string, most: number): Promise<Buffer>;
  /** The names of the entries in a folder. */
  names(folder: string): Promise<readonly string[]>;
  /** Every file and folder requested so far, by absolute path, including those that do not exist. */
  asked(): readonly Asked[];
  /** A hash of everything read so far. `key` makes it a keyed hash, because some of the files hold secrets. */
  fingerprint(key: (digest: string) => string): string;
  /** Whether every file and folder still has the content it had when it was read. */
  areUnchanged(): Promise<boolean>;
  /** Reads the same files as they were read before. Only for a reader that keeps contents. */
  again(): SourceFiles;
}

interface Asked {
  readonly path: string;
  /** A folder whose entries were listed, or a file. */
  readonly kind: 'file' | 'folder';
}

interface Seen extends Asked {
  readonly stamp: string;
  readonly most: number;
  /** The bytes of a file or the names in a folder, if contents are kept and it could be read. */
  readonly content?: Buffer | readonly string[] | undefined;
}

/** Contents of files by their hashes, for readers that keep them: equal files are in memory once. */
export type KeptContents = Map<string, WeakRef<Buffer>>;

function keptOnce(contents: KeptContents, stamp: string, bytes: Buffer): Buffer {
  const known = contents.get(stamp)?.deref();
  if (known === undefined) contents.set(stamp, new WeakRef(bytes));
  return known ?? bytes;
}

/** The same files, as if this text were in the file at an absolute path. */
export function withText(files: SourceFiles, path: string, text: string): SourceFiles {
  return { ...files, text: async (asked) => (files.resolve(asked) === path ? text : files.text(asked)) };
}

/**
 * @param folder - the folder that relative paths are resolved against
 * @param contents - where to keep what is read; undefined: nowhere
 */
export function sourceFiles(folder: string, contents?: KeptContents): SourceFiles {
  return readerOf(folder, new Map(), contents);
}

function readerOf(folder: string, seen: Map<string, Seen>, contents: KeptContents | undefined): SourceFiles {
  const resolve = (path: string) => resolvePath(folder, path);

  const note = async <T>(asked: Omit<Seen, 'stamp'>, read: () => Promise<T>, stampOf: (got: T) => string) => {
    const remember = (stamp: string, content?: Seen['content']) =>
      seen.set(asked.path, content === undefined ? { ...asked, stamp } : { ...asked, stamp, content });
    try {
      const got = await read();
      const stamp = stampOf(got);
      remember(stamp, contents && (Buffer.isBuffer(got) ? keptOnce(contents, stamp, got) : (got as readonly string[])));
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
    names: (path) => note({ path: resolve(path), kind: 'folder', most: 0 }, () => namesIn(resolve(path)), stampOfNames),
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
    again() {
      const before = new Map(seen);
      const failure = (path: string, code: string) => Object.assign(new Error(`${path} was not read.`), { code });
      const known = (path: string) => {
        const { content, stamp = 'ENOENT' } = before.get(resolve(path)) ?? {};
        if (content === undefined) throw failure(path, stamp);
        return content;
      };
      const bytes = async (path: string) => {
        const content = known(path);
        if (!Buffer.isBuffer(content)) throw failure(path, 'EISDIR');
        return content;
      };
      return {
        ...readerOf(folder, before, contents),
        bytes,
        text: async (path) => (await bytes(path)).toString('utf8'),
        async names(path) {
          const content = known(path);
          if (Buffer.isBuffer(content)) throw failure(path, 'ENOTDIR');
          return content;
        },
      };
    },
  };
}

async function readAtMost(path: string, most: number): Promise<Buffer> {
  // Only the demo's configuration, whose files are small.
  if (isAsset(path)) return readInstalled(path);
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

async function namesIn(folder: string): Promise<readonly string[]> {
  if (!isAsset(folder)) return readdir(folder);
  const below = installedFiles(folder);
  if (below.includes('')) throw Object.assign(new Error(`${folder} is not a folder.`), { code: 'ENOTDIR' });
  return [...new Set(below.map((path) => path.split('/')[0] ?? path))];
}

function stampNow({ path, kind, most }: Seen): Promise<string> {
  const stamp = kind === 'folder' ? namesIn(path).then(stampOfNames) : readAtMost(path, most).then(stampOfBytes);
  return stamp.catch(stampOfFailure);
}

function stampOfBytes(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64url');
}

function stampOfNames(names: readonly string[]): string {
  return names.toSorted().join('/');
}

function stampOfFailure(thrown: unknown): string {
  return thrown instanceof FileTooLarge ? `${thrown.size} bytes` : String((thrown as NodeJS.ErrnoException).code);
}
