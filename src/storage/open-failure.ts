import { GatewayError } from '../errors.ts';

/** What is wrong with the store at a path, in whole sentences, because people search for them, and what to do next. */
const REASONS = {
  /** The content of the file cannot be read or trusted. */
  damaged: [
    (path: string, detail: string) => `The store ${path} is damaged (${detail}):`,
    'restore a backup, or move it away together with its -wal and -shm files; members then have to approve their apps again.',
  ],
  newer: [
    (path: string, detail: string) => `The store ${path} was written by a newer version of coursegate (${detail}):`,
    'run that version, or restore a backup made before the upgrade.',
  ],
  /** It belongs to another program. */
  foreign: [
    (path: string, detail: string) => `The store ${path} does not belong to coursegate (${detail}):`,
    'set `store.path` to another file; this one was not changed.',
  ],
  'in-use': [
    (path: string, detail: string) => `The store ${path} is in use by another coursegate (${detail}):`,
    'stop the other gate first, or use another file. Several gates can only share a store in a server (docs/stores.md).',
  ],
  /** The operating system does not allow opening it. */
  unopenable: [
    (path: string, detail: string) => `The store ${path} cannot be opened (${detail}):`,
    'check that its folder exists, has free space, and is writable by the user that runs coursegate.',
  ],
} as const;

/** Why a store's file cannot be opened. The message names the file and says what to do next. */
export class StoreOpenError extends GatewayError {
  readonly reason: keyof typeof REASONS;

  constructor(reason: keyof typeof REASONS, path: string, detail: string) {
    const [what, next] = REASONS[reason];
    super('store_unavailable', { message: `${what(path, detail)} ${next}` });
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
