/** Limits for JSON text from outside. Its size in bytes is limited earlier, where the text is read. */
export interface JsonBounds {
  /** Nesting depth of arrays and objects. */
  readonly depth: number;
  /** Number of values: array items and object members, including nested arrays and objects. */
  readonly values: number;
  /**
   * Number of distinct member names. A list of a thousand records has as many as one record. An object with a hundred
   * thousand keys costs a hundred times as much as a list of that length, in the parser and in all code that iterates
   * over it.
   */
  readonly names: number;
}

/** For text that exceeds a limit, whether or not it is valid JSON. The message names the limit, in English. */
export class JsonTooLarge extends Error {
  /** The limit that was exceeded. */
  readonly bound: keyof JsonBounds;

  constructor(bound: keyof JsonBounds, most: number) {
    super(`has more than ${most} ${WORDS[bound]}`);
    this.name = 'JsonTooLarge';
    this.bound = bound;
  }
}

/**
 * For responses of backends, of at most 2 MiB. A list of ten thousand records passes. Within these limits the parser
 * takes 35 ms for the worst case found, objects that share no names, and a third of that for records.
 */
export const ANSWER_BOUNDS: JsonBounds = { depth: 64, values: 100_000, names: 3000 };

/** For a document about one thing: a member, a token. */
export const RECORD_BOUNDS: JsonBounds = { depth: 64, values: 10_000, names: 1000 };

/** For documents that a site describes itself with, such as an OpenAPI document of a few megabytes. */
export const DOCUMENT_BOUNDS: JsonBounds = { depth: 100, values: 500_000, names: 50_000 };

const WORDS: Readonly<Record<keyof JsonBounds, string>> = {
  depth: 'levels of lists and objects',
  values: 'values',
  names: 'different names of members',
};

/**
 * Parses JSON text from outside. One pass over the characters first counts what it contains, so that neither the parser
 * nor any later code meets a value that could block the event loop.
 * @throws JsonTooLarge if a limit is exceeded, SyntaxError if the text is not JSON.
 */
export function parseBoundedJson(text: string, bounds: JsonBounds): unknown {
  const excess = jsonExcess(text, bounds);
  if (excess !== undefined) throw excess;
  return JSON.parse(text);
}

/** Like `parseBoundedJson`, but returns undefined for text that is not JSON or exceeds a limit. */
export function boundedJson(text: string, bounds: JsonBounds): unknown {
  try {
    return parseBoundedJson(text, bounds);
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Counts depth, values and names in linear time and constant memory, whether or not the text is JSON. Returns the limit
 * that is exceeded; undefined if none is.
 */
export function jsonExcess(
  text: string,
  { depth: deepest, values: most, names: mostNames }: JsonBounds,
): JsonTooLarge | undefined {
  // A value takes at least one character and a name three, so most texts are too short to exceed a limit, and the depth
  // can be no more than the number of brackets.
  const mayHaveNames = text.length > 3 * mostNames;
  if (text.length < most && !mayHaveNames && !hasMoreBrackets(text, deepest)) return undefined;
  const names = mayHaveNames ? new NameCounter(mostNames) : undefined;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const start = at + 1;
        at = endOfString(text, at);
        if (names !== undefined && isName(text, at + 1) && names.add(text, start, at))
          return new JsonTooLarge('names', mostNames);
        break;
      }
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > deepest) return new JsonTooLarge('depth', deepest);
        values += 1;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
    }
    if (values > most) return new JsonTooLarge('values', most);
  }
  return undefined;
}

/** The index of the closing quote for the opening quote at `quote`; at or beyond the end of the text if there is none. */
export function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

/** Whether more than `most` lists and objects begin in the text, counting brackets in strings, too. */
function hasMoreBrackets(text: string, most: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > most) return true;
    }
  }
  return false;
}

/**
 * Whether a colon follows. The main loop skips the white space before it again: each character is read at most twice.
 */
function isName(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Size of the set of names: with 16 bits per allowed name, two names rarely share a bit. */
const BITS_PER_NAME = 16;

/**
 * Counts distinct names with one bit per hash: no strings are created, and two names that share a bit count as one. The
 * hash has a random seed, so that an attacker cannot choose names that collide.
 */
class NameCounter {
  readonly #most: number;
  readonly #bits: Uint8Array;
  readonly #mask: number;
  readonly #seed = (Math.random() * 0x1_0000_0000) | 0;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
    const size = 2 ** Math.ceil(Math.log2(most * BITS_PER_NAME));
    this.#bits = new Uint8Array(size >> 3);
    this.#mask = size - 1;
  }

  /** Adds the name between two positions of the text. Returns whether there are now too many. */
  add(text: string, from: number, to: number): boolean {
    let hash = this.#seed;
    for (let at = from; at < to; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x5bd1_e995);
      hash ^= hash >>> 15;
    }
    const place = hash & this.#mask;
    const bit = 1 << (place & 7);
    const byte = this.#bits[place >> 3] ?? 0;
    if ((byte & bit) !== 0) return false;
    this.#bits[place >> 3] = byte | bit;
    this.#count += 1;
    return this.#count > this.#most;
  }
}
