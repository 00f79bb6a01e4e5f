import type { Clock, Store } from '../../../storage/store.ts';
import { finishedSoon } from '../actions/finished-soon.ts';
import { readRows } from './read-rows.ts';
import type { Rows } from './rows.ts';

/** What can be searched now, or how much of it has been read (0 to 1). */
export type DirectoryView =
  | { readonly state: 'ready'; readonly rows: Rows /** Milliseconds. */; readonly readAt: number }
  | { readonly state: 'reading'; readonly share: number };

/** Members, apps and grants in memory, for the console to search. */
export type Directory = ReturnType<typeof createDirectory>;

interface DirectoryLimits {
  /** The most rows of each kind. */
  readonly most?: number;
  /** Milliseconds that a page waits for the first reading. */
  readonly patience?: number;
  /** Milliseconds without a look after which the memory is released. */
  readonly idle?: number;
}

/** Milliseconds after which the rows are read again when they are shown; longer if reading takes long. */
const FRESH = 60_000;
const TIMES_AS_LONG_AS_READING = 30;
const IDLE = 10 * 60_000;
const PATIENCE = 100;

interface Reading {
  share: number;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Made since the reading began. What it has read before them is corrected at the end. */
  readonly corrections: ((rows: Rows) => void)[];
}

interface Read {
  readonly rows: Rows;
  readonly at: number;
  /** How long it took. */
  readonly took: number;
}

export function createDirectory(
  store: Pick<Store, 'scan' | 'get'>,
  clock: Clock,
  { most, patience = PATIENCE, idle = IDLE }: DirectoryLimits = {},
) {
  let read: Read | undefined;
  let reading: Reading | undefined;
  let release: NodeJS.Timeout | undefined;

  const begin = (): Reading => {
    const began = clock();
    const stop = new AbortController();
    const corrections: Reading['corrections'] = [];
    const onProgress = (share: number) => {
      current.share = share;
    };
    const work = async () => {
      try {
        const rows = await readRows(store, onProgress, stop.signal, most);
        for (const correct of corrections) correct(rows);
        read = { rows, at: clock(), took: clock() - began };
      } finally {
        if (reading === current) reading = undefined;
      }
    };
    const current: Reading = { share: 0, stop, corrections, done: work() };
    // A page that waits for it gets the failure. If no page waits, the next one tries again.
    current.done.catch(() => {});
    return current;
  };

  const isOld = () => read === undefined || clock() - read.at > Math.max(FRESH, read.took * TIMES_AS_LONG_AS_READING);

  return {
    /**
     * Rows that were read a minute ago or later, or else begins to read them again. Older rows are used meanwhile.
     * Throws GatewayError `store_unavailable` if there are none.
     */
    async look(): Promise<DirectoryView> {
      if (isOld()) reading ??= begin();
      if (read === undefined && reading !== undefined) await finishedSoon(reading.done, () => {}, patience);
      clearTimeout(release);
      release = setTimeout(() => this.close(), idle).unref();
      return read === undefined
        ? { state: 'reading', share: reading?.share ?? 0 }
        : { state: 'ready', rows: read.rows, readAt: read.at };
    },

    /** Applies what an action has changed. */
    correct(correction: (rows: Rows) => void): void {
      if (read !== undefined) correction(read.rows);
      reading?.corrections.push(correction);
    },

    /** Releases the memory. */
    close(): void {
      clearTimeout(release);
      reading?.stop.abort();
      reading = undefined;
      read = undefined;
    },
  };
}
