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

const WHAT: Readonly<Record<Reason, (path: string, detail: string) => string>> = {
  damaged: (path, detail) => `The store ${path} is damaged (${detail}):`,
  newer: (path, detail) => `The store ${path} was written by a newer version of coursegate (${detail}):`,
  foreign: (path, detail) => `The store ${path} is none of coursegate's (${detail}):`,
  'in-use': (path, detail) => `The store ${path} is in use by another coursegate (${detail}):`,
  unopenable: (path, detail) => `The store ${path} cannot be opened (${detail}):`,
};

const NEXT: Readonly<Record<Reason, string>> = {
  damaged:
    'restore your backup of it, or move it away with its -wal and -shm files, and members will have to approve their apps again.',
  newer: 'run that version, or restore a backup made before the upgrade.',
  foreign: 'name another file as `store.path`; this one was left as it is.',
  'in-use': 'stop that one first, or give this one a file of its own. Several gates share one store only in Redis.',
  unopenable: 'see that its folder exists, has room, and may be written by the user that coursegate runs as.',
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
