import { GatewayError } from '../errors.ts';

type Reason =
  /** The content of the file cannot be read or trusted. */
  | 'damaged'
  /** The file is intact, but was written by a newer version. */
  | 'newer'
  /** The file is intact, but belongs to another program. */
  | 'foreign'
  /** Another gate has it open. */
  | 'in-use'
  /** The operating system does not allow opening it. */
  | 'unopenable';

/** Why a store's file cannot be opened. The message names the file and says what to do next. */
export class StoreOpenError extends GatewayError {
  readonly reason: Reason;

  constructor(reason: Reason, path: string, detail: string) {
    super('store_unavailable', { message: `${WHAT[reason](path, detail)} ${NEXT[reason]}` });
    this.name = 'StoreOpenError';
    this.reason = reason;
  }
}

/** The store is not ready to be used, which may pass by itself. The message says why, and where to look. */
export class StoreNotReady extends GatewayError {
  constructor(message: string) {
    super('store_unavailable', { message });
    this.name = 'StoreNotReady';
  }
}

const WHAT: Readonly<Record<Reason, (path: string, detail: string) => string>> = {
  damaged: (path, detail) => `The store ${path} is damaged (${detail}):`,
  newer: (path, detail) => `The store ${path} was written by a newer version of coursegate (${detail}):`,
  foreign: (path, detail) => `The store ${path} does not belong to coursegate (${detail}):`,
  'in-use': (path, detail) => `The store ${path} is in use by another coursegate (${detail}):`,
  unopenable: (path, detail) => `The store ${path} cannot be opened (${detail}):`,
};

const NEXT: Readonly<Record<Reason, string>> = {
  damaged:
    'restore a backup, or move it away together with its -wal and -shm files; members then have to approve their apps again.',
  newer: 'run that version, or restore a backup made before the upgrade.',
  foreign: 'set `store.path` to another file; this one was not changed.',
  'in-use':
    'stop the other gate first, or use another file. Several gates can only share a store in a server (docs/stores.md).',
  unopenable: 'check that its folder exists, has free space, and is writable by the user that runs coursegate.',
};

/** SQLite's primary result codes for a file with invalid content. */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Converts any error that opening `path` threw. */
export function asStoreOpenError(path: string, thrown: unknown): StoreOpenError {
  if (thrown instanceof StoreOpenError) return thrown;
  const { errcode, message } = thrown as { errcode?: number; message?: string };
  // The low byte is the primary result code; the higher bits belong to the extended code.
  const primary = errcode === undefined ? undefined : errcode & 0xff;
  const damaged = primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB;
  return new StoreOpenError(damaged ? 'damaged' : 'unopenable', path, message ?? String(thrown));
}
