import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { codePath, readInstalled } from '../installation.ts';

/**
 * What the payloads of a connected app have in common: names, and values that most of them share. Compressed with it, an
 * app takes half the space. Never edit the file: what was written with it could not be read. The most common is at the
 * end, and the line breaks do not belong to it.
 */
const DICTIONARY = Buffer.from(
  readInstalled(codePath('storage/compression-dictionary.txt')).toString().replaceAll(/\r?\n/g, ''),
);

/**
 * A small window: the texts are small, and a state of the usual size takes longer to set up than to use. Small chunks: each
 * call allocates one, and 16 KiB each, the default, filled 50 MB between two collections while members signed in.
 */
const OPTIONS = { windowBits: 12, memLevel: 5, chunkSize: 2048, dictionary: DICTIONARY };

export function compressed(text: string): Uint8Array {
  return deflateRawSync(text, OPTIONS);
}

/** Throws if these bytes were not compressed here. */
export function decompressed(bytes: Uint8Array): string {
  return inflateRawSync(bytes, OPTIONS).toString('utf8');
}
