/** The most that JSON text from outside may hold. Bytes are bounded before, where the text is read. */
export interface JsonBounds {
  /** Levels of lists and objects. */
  readonly depth: number;
  /** Values: items of lists and members of objects, lists and objects among them. */
  readonly values: number;
  /**
   * Different names of members. A list of a thousand records has the names of one; an object of a hundred thousand keys
   * costs a hundred times as much as a list of that length, in the parser and in everything that walks it.
   */
  readonly names: number;
}

/** Thrown for text that is JSON, or may be, and holds more than was allowed. Its message says which bound, in English. */
export class JsonTooLarge extends Error {
  /** The bound that was exceeded. */
  readonly bound: keyof JsonBounds;

  constructor(bound: keyof JsonBounds, most: number) {
    super(`has more than ${most} ${WORDS[bound]}`);
    this.name = 'JsonTooLarge';
    this.bound = bound;
  }
}

/**
 * For answers of backends, of at most 2 MiB: a list of ten thousand records passes. With these numbers the parser takes
 * 35 ms for the worst that was found, objects that share no names; for records it takes a third.
 */
export const ANSWER_BOUNDS: JsonBounds = { depth: 64, values: 100_000, names: 3000 };

/** For a document about one thing: who a member is, a token. */
export const RECORD_BOUNDS: JsonBounds = { depth: 64, values: 10_000, names: 1000 };

const WORDS: Readonly<Record<keyof JsonBounds, string>> = {
  depth: 'levels of lists and objects',
  values: 'values',
  names: 'different names of members',
};

/**
 * Parses JSON text that came from outside, after one pass over its characters that counts what is in it: neither the
 * parser nor anything behind it meets a value that could hold up the event loop.
 * @throws JsonTooLarge when a bound is exceeded, SyntaxError when the text is not JSON.
 */
export function parseBoundedJson(text: string, bounds: JsonBounds): unknown {
  checkJsonBounds(text, bounds);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;

/**
 * Counts depth, values and names in linear time and constant memory, whether or not the text is JSON.
 * @throws JsonTooLarge when a bound is exceeded.
 */
export function checkJsonBounds(text: string, { depth: deepest, values: most, names: mostNames }: JsonBounds): void {
  // A level takes a character, a value two, a name more: most texts are too short to exceed any bound.
  if (text.length <= Math.min(deepest, most, mostNames)) return;
  const names = new NameCounter(mostNames);
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const start = at + 1;
        for (at = start; at < text.length; at += 1) {
          const code = text.charCodeAt(at);
          if (code === BACKSLASH) at += 1;
          else if (code === QUOTE) break;
        }
        if (isName(text, at + 1) && names.add(text, start, at)) throw new JsonTooLarge('names', mostNames);
        break;
      }
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > deepest) throw new JsonTooLarge('depth', deepest);
        values += 1;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
    }
    if (values > most) throw new JsonTooLarge('values', most);
  }
}

/** Whether a colon follows. White space before it is skipped again by the main loop: at most twice in all. */
function isName(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return text.charCodeAt(at) === COLON;
}

/** Bits of the set of names: 16 for each name that may be in it keep two of them apart nearly always. */
const BITS_PER_NAME = 16;

/**
 * Counts different names by a bit for each hash: no string is made, and two names that share a bit count as one. The hash
 * begins with a random number, so that nobody can choose names that share theirs.
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

  /** Adds the name between two places of the text. Returns whether there are too many now. */
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
