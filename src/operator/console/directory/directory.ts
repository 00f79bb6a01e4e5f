import type { Clock, Store } from '../../../storage/store.ts';
import { finishedSoon } from '../actions/finished-soon.ts';
import { readRows } from './read-rows.ts';
import { emptyRows, type Rows } from './rows.ts';

/** What can be searched now, or how much of it has been read (0 to 1). */
export type DirectoryView =
  | {
      readonly state: 'ready';
      readonly rows: Rows;
      /** Milliseconds. */
      readonly readAt: number;
      /** How much of a larger store has been searched for these rows, from 0 to 1. Undefined: they are no such search. */
      readonly searched?: number;
    }
  | { readonly state: 'reading'; readonly share: number };

/** Members, apps and grants in memory, for the console to search. */
export type Directory = ReturnType<typeof createDirectory>;

interface DirectoryLimits {
  /** The most rows in all. */
  readonly most?: number;
  /** Milliseconds that a page waits for a reading. */
  readonly patience?: number;
  /** Milliseconds without a look after which the memory is released. */
  readonly idle?: number;
}

/** They take about 60 MB, and twice that while they are read again. */
const MOST = 200_000;
/** The most that a search of a larger store finds. */
const FOUND = 2000;
/** Milliseconds after which the rows are read again when they are shown; longer if reading takes long. */
const FRESH = 60_000;
const TIMES_AS_LONG_AS_READING = 30;
const IDLE = 10 * 60_000;
const PATIENCE = 75;

interface Reading {
  readonly rows: Rows;
  readonly typed: string;
  readonly began: number;
  /** When it was done, in milliseconds. */
  ended?: number;
  share: number;
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Made since the reading began. What it has read before them is corrected at the end. */
  readonly corrections: ((rows: Rows) => void)[];
}

export function createDirectory(
  store: Pick<Store, 'scan' | 'get'>,
  clock: Clock,
  { most = MOST, patience = PATIENCE, idle = IDLE }: DirectoryLimits = {},
) {
  let read: Reading | undefined;
  let reading: Reading | undefined;
  /** The last search of a store with more rows than these. */
  let search: Reading | undefined;
  let release: NodeJS.Timeout | undefined;

  const begin = (typed = ''): Reading => {
    const rows: Rows = { ...emptyRows(), partial: typed !== '' };
    const onProgress = (share: number) => {
      current.share = share;
    };
    const stop = new AbortController();
    const began = clock();
    const work = async () => {
      const limits = { most: typed === '' ? most : FOUND, since: Math.floor(began / 1000) };
      await readRows(store, { rows, typed, ...limits }, onProgress, stop.signal);
      for (const correct of current.corrections) correct(rows);
      current.ended = clock();
      if (reading === current) [read, reading] = [current, undefined];
    };
    const current: Reading = { rows, typed, began, share: 0, stop, corrections: [], done: work() };
    // A page that waits for it gets the failure. If no page waits, the next one tries again.
    current.done.catch(() => {
      if (reading === current) reading = undefined;
      if (search === current) search = undefined;
    });
    return current;
  };

  const isOld = ({ began, ended }: Reading) =>
    ended !== undefined && clock() - ended > Math.max(FRESH, (ended - began) * TIMES_AS_LONG_AS_READING);

  return {
    /**
     * Rows that were read a minute ago or later, or else begins to read them again. Older rows are used meanwhile.
     * Throws GatewayError `store_unavailable` if there are none.
     */
    async look(): Promise<DirectoryView> {
      if (read === undefined || isOld(read)) reading ??= begin();
      if (read === undefined && reading !== undefined) await finishedSoon(reading.done, () => {}, patience);
      clearTimeout(release);
      release = setTimeout(() => this.close(), idle).unref();
      return read === undefined
        ? { state: 'reading', share: reading?.share ?? 0 }
        : { state: 'ready', rows: read.rows, readAt: read.ended ?? 0 };
    },

    /**
     * The same for the members and apps whose text contains what was typed, folded. If there are more than the rows, the
     * store is searched for them, and this returns what has been found so far.
     * @param looked - what `look` has returned to the same page, so that it waits for a reading once
     */
    async find(typed: string, looked?: DirectoryView): Promise<DirectoryView> {
      const view = looked ?? (await this.look());
      if (typed === '' || view.state === 'reading' || !view.rows.more) return view;
      if (search?.typed !== typed || isOld(search)) {
        search?.stop.abort();
        search = begin(typed);
      }
      const { rows, done } = search;
      await finishedSoon(done, () => {}, patience);
      return { state: 'ready', rows, readAt: search.ended ?? clock(), searched: search.share };
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
      search?.stop.abort();
      [read, reading, search] = [undefined, undefined, undefined];
    },
  };
}
