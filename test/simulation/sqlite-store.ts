import { readFileSync } from 'node:fs';
import type { RawMutation, RawStore } from '../../src/storage/store.ts';
import { type Files, filesAt, torn } from './power-loss.ts';
import type { StoreOptions } from './simulated-store.ts';
import { currentWork, type Life, type Work } from './simulated-time.ts';
import { openFile, type SqliteFile } from './sqlite-file.ts';

/** Commits after which SQLite writes its log to the main file. */
const CHECKPOINTS = [Number.POSITIVE_INFINITY, 7, 2] as const;
/** Bytes of the header of the log, and of one of its frames with a page of 4096 bytes. */
const [HEADER, FRAME] = [32, 24 + 4096] as const;

/** An entry of the simulation itself, which says which commit was the last. */
const MARK = { kind: 'LastCommit', id: 'mark' } as const;

/** Another one each time: what waits for a promise is kept as long as the promise. */
const never = () => new Promise<never>(() => {});

interface SqliteOptions extends Pick<StoreOptions, 'scheduler' | 'choices' | 'faults' | 'began' | 'watch'> {
  readonly image: Files;
}

/**
 * The store of one gate in a file, as the gate has it, on a disk that may lose power. A commit is on the disk when the
 * sync that was begun after it has ended; SQLite itself syncs the log before a checkpoint, and the main file after it.
 * What was written since the last sync is lost or torn when the power goes. When only the gate dies, everything is there.
 */
export function createSqliteStore({ scheduler, choices, faults, began, watch, image }: SqliteOptions) {
  const checkpointAfter = choices.pick('checkpoint after', CHECKPOINTS);
  const clock = () => scheduler.now();
  let syncs = 0;
  let commits = 0;
  let crashes = 0;
  /** The log as it is on the disk for sure. */
  let syncedLog = image.log;
  /** How often SQLite itself has synced the log. */
  let checkpoints = 0;
  /** The salts of the log, how many frames it has, and how many of them SQLite has written to the main file. */
  let index = { salts: '', frames: 0, written: 0 };
  /** The frames of the log after each commit that may not be on the disk. */
  let unsynced: readonly number[] = [];
  /** What is about to be committed. */
  let committing: { readonly work: Work; readonly mutations: readonly RawMutation[] } | undefined;

  const late = (name: string): number => {
    const now = scheduler.now() - began;
    const isLate = faults.some((one) => one.kind === 'store' && one.from <= now && now < one.until);
    return isLate ? 600 * choices.unit(`${name} late`) : 0;
  };
  const open = (files: Files): SqliteFile => {
    const opened = openFile(files, clock, async () => {
      if (file !== opened) return never();
      syncs += 1;
      const name = `sync ${syncs}`;
      const [covered, frames, before] = [readFileSync(`${opened.path}-wal`), index.frames, checkpoints];
      await new Promise<void>((resolve) => scheduler.after(late(name) + 2 * choices.delay(name), resolve));
      if (file !== opened || before !== checkpoints) return;
      syncedLog = covered;
      unsynced = unsynced.filter((end) => end > frames);
    });
    return opened;
  };
  const lookAtIndex = (): typeof index => {
    // https://www.sqlite.org/walformat.html, sections 2.1 and 2.2.
    const bytes = readFileSync(`${file.path}-shm`);
    return { salts: bytes.toString('hex', 32, 40), frames: bytes.readUInt32LE(16), written: bytes.readUInt32LE(96) };
  };
  /** SQLite syncs the log before it writes it to the main file, and its header when it begins it again. */
  const noteOwnSyncs = (): void => {
    const before = index;
    index = lookAtIndex();
    if (before.salts === index.salts && before.written === index.written) return;
    checkpoints += 1;
    const log = readFileSync(`${file.path}-wal`);
    const isSynced = index.written > 0;
    syncedLog = isSynced ? log : withHeader(syncedLog, log);
    unsynced = isSynced ? [] : unsynced.slice(-1);
  };
  let file = open(image);
  index = lookAtIndex();

  /** Applies a commit, and tells whether it was. */
  const apply = (mutations: readonly RawMutation[], priority?: Parameters<RawStore['commit']>[1]) => {
    const mark = { ...MARK, payload: String(commits + 1), expiresAt: undefined, references: {} };
    const done = file.raw.commit([...mutations, { op: 'put', entry: mark }], priority);
    const held = file.payloadOf(MARK.kind, MARK.id) === mark.payload;
    if (held) {
      commits += 1;
      unsynced = [...unsynced, lookAtIndex().frames];
      if (commits % checkpointAfter === 0) file.checkpoint();
    }
    noteOwnSyncs();
    return { done, held };
  };

  /** The log after the power went: some of the commits that were not synced are there, and of the next one not everything. */
  const tornLog = (name: string, log: Buffer): Buffer => {
    const survive = choices.below(`${name} survive`, unsynced.length + 1);
    const end = (at: number) => HEADER + (unsynced[at] ?? 0) * FRAME;
    const until = survive === 0 ? 0 : end(survive - 1);
    const without = survive === unsynced.length ? undefined : end(survive) - FRAME;
    return torn(withHeader(syncedLog, log), log, choices, name, { until, without });
  };

  /** The power goes: while something is being committed, or between two steps. */
  const losePower = (name: string): Files => {
    const { main, log } = filesAt(file.path);
    if (committing === undefined || !choices.chance(`${name} within a commit`, 0.7))
      return { main, log: tornLog(name, log) };
    apply(committing.mutations).done.catch(() => {});
    const now = filesAt(file.path);
    if (now.main.equals(main)) return { main, log: tornLog(name, now.log) };
    // Of the two only one is torn, because the log is synced before the main file is written.
    if (choices.chance(`${name} within the checkpoint`, 0.7))
      return { main: torn(main, now.main, choices, name), log: now.log };
    return { main, log: now.log };
  };

  const call = async <T>(run: (work: Work) => Promise<T>): Promise<T> => {
    const work = currentWork();
    watch.step(work);
    if (!work.life.alive) return never();
    const ended = await run(work).then(
      (value) => ({ value }),
      (reason: unknown) => ({ reason }),
    );
    if (work.life.alive) watch.step(work);
    if (!work.life.alive) return never();
    if ('reason' in ended) throw ended.reason;
    return ended.value;
  };

  const raw: RawStore = {
    get: (...given) => call(() => file.raw.get(...given)),
    findBy: (...given) => call(() => file.raw.findBy(...given)),
    count: (...given) => call(() => file.raw.count(...given)),
    scan: (...given) => call(() => file.raw.scan(...given)),
    async commit(mutations, priority) {
      if (mutations.length === 0) return call(() => file.raw.commit(mutations, priority));
      committing = { work: currentWork(), mutations };
      try {
        return await call((work) => {
          committing = undefined;
          const { done, held } = apply(mutations, priority);
          if (held) watch.committed(work, mutations, commits);
          return done;
        });
      } finally {
        committing = undefined;
      }
    },
    sweep: async () => 0,
    compact: async () => 0,
    close: async () => {},
  };

  return {
    raw,
    /** The gate has died; `power`: and its machine lost power. It starts again with what is on the disk. */
    crashed(life: Life, power: boolean): void {
      crashes += 1;
      const [old, last, interrupted] = [file, commits, committing];
      const files = power ? losePower(`${life.name} power ${crashes}`) : filesAt(file.path);
      committing = undefined;
      file = open(files);
      old.close();
      index = lookAtIndex();
      unsynced = [];
      syncedLog = files.log;
      commits = Number(file.payloadOf(MARK.kind, MARK.id) ?? 0);
      if (interrupted !== undefined && commits > last)
        watch.committed(interrupted.work, interrupted.mutations, commits);
      if (power) watch.failedOver(commits);
    },
    close: () => file.close(),
  };
}

/** The log as synced, with the header of the log as it is now. */
function withHeader(synced: Buffer, log: Buffer): Buffer {
  const header = log.subarray(0, 32);
  return synced.subarray(0, 32).equals(header) ? synced : Buffer.concat([header, synced.subarray(32)]);
}
