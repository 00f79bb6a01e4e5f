import { readFileSync } from 'node:fs';
import type { Choices } from './choices.ts';

/** The two files of a database that hold its content. */
export interface Files {
  readonly main: Buffer;
  readonly log: Buffer;
}

/** Parts of a written file reach the disk alone: a sector, or a page. */
const UNITS = [512, 4096] as const;
/** How many of ten written parts did not reach the disk. */
const LOST = [0, 1, 5, 9, 10] as const;

export function filesAt(path: string): Files {
  return { main: readFileSync(path), log: readFileSync(`${path}-wal`) };
}

/** What a file has kept in any case. */
interface Kept {
  /** Before this offset, everything has reached the disk. */
  readonly until?: number | undefined;
  /** The part at this offset has not. */
  readonly without?: number | undefined;
}

/**
 * A file after a power loss between two syncs: each part that was written since the first reached the disk or did not, in
 * any order. A file that grew has any length in between.
 */
export function torn(synced: Buffer, written: Buffer, choices: Choices, name: string, kept: Kept = {}): Buffer {
  const { until = 0, without } = kept;
  const unit = choices.pick(`${name} unit`, UNITS);
  const lost = choices.pick(`${name} lost`, LOST);
  const image = Buffer.from(written);
  for (let from = until - (until % unit); from < image.length; from += unit) {
    const to = Math.min(from + unit, image.length);
    const isLost = without !== undefined && from <= without && without < to;
    if (!isLost && choices.below(`${name} part ${from}`, 10) >= lost) continue;
    // It was never written: it has its old content, or zeros after the end of the old file.
    const begin = Math.max(from, until);
    image.fill(0, begin, to);
    if (begin < synced.length) synced.copy(image, begin, begin, Math.min(to, synced.length));
  }
  const least = Math.max(synced.length, until);
  if (written.length <= least || choices.chance(`${name} long`, 0.6)) return image;
  return image.subarray(0, least + choices.below(`${name} length`, Math.ceil((written.length - least) / unit)) * unit);
}
