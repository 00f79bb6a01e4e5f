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

/**
 * A file after a power loss between two syncs: each part that was written since the first reached the disk or did not, in
 * any order. A file that grew has any length in between.
 */
export function torn(synced: Buffer, written: Buffer, choices: Choices, name: string): Buffer {
  const unit = choices.pick(`${name} unit`, UNITS);
  const lost = choices.pick(`${name} lost`, LOST);
  const image = Buffer.from(written);
  for (let from = 0; from < image.length; from += unit) {
    const to = Math.min(from + unit, image.length);
    const isSame = synced.subarray(from, to).equals(written.subarray(from, to));
    if (isSame || choices.below(`${name} part ${from}`, 10) >= lost) continue;
    // It was never written: it has its old content, or zeros after the end of the old file.
    image.fill(0, from, to);
    if (from < synced.length) synced.copy(image, from, from, Math.min(to, synced.length));
  }
  if (written.length <= synced.length || choices.chance(`${name} long`, 0.6)) return image;
  const parts = Math.ceil((written.length - synced.length) / unit);
  return image.subarray(0, synced.length + choices.below(`${name} length`, parts) * unit);
}
