import { isUtf8Json } from '../http/body.ts';
import { fieldValues } from '../http/field-values.ts';

/** Changes a response's body while it streams. What both functions return is sent instead. */
export interface BodyMap {
  /** The chunk is not used after the call. */
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

/** Digests of a body that is not the one sent on (RFC 9530, RFC 3230, RFC 1864), and what depends on its length. */
const OF_THE_BODY = new Set([
  ...['content-digest', 'repr-digest', 'digest', 'content-md5'],
  ...['content-length', 'accept-ranges'],
]);

const NOT_SENT = new Set(['accept-encoding', 'range', 'if-range']);

/**
 * The request fields for an upstream whose JSON is changed on its way back: it has to be complete and uncompressed. A
 * tag that we weakened is strong again, because If-Match compares strong ones only (RFC 9110 section 13.1.1).
 */
export function fieldsForMapping(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name, value] = [fields[at] as string, fields[at + 1] as string];
    const lower = name.toLowerCase();
    if (lower === 'if-match') kept.push(name, value.replace(/W\/(?=")/g, ''));
    else if (!NOT_SENT.has(lower)) kept.push(name, value);
  }
  return [...kept, 'Accept-Encoding', 'identity'];
}

/**
 * Adapts the fields of a response whose links are mapped, and returns the map for its body; undefined for a body that
 * is not JSON in UTF-8, or is compressed although we asked for it as it is. An entity tag becomes weak: the body also
 * depends on our configuration.
 * @param raw the upstream's fields
 * @param fields those for the client, changed in place
 * @param condition the If-None-Match of the request: a 304 repeats the tag in the form that the client has
 */
export function mapJsonLinks(
  { status, raw, condition }: { status: number; raw: readonly string[]; condition: string | undefined },
  fields: string[],
  toPublic: (text: string) => string | undefined,
): BodyMap | undefined {
  if (status === 304) {
    changeFields(fields, (name, value) =>
      name === 'etag' && condition?.includes(`W/${value}`) ? `W/${value}` : value,
    );
    return undefined;
  }
  const [type, ...others] = fieldValues(raw, 'content-type');
  const codings = fieldValues(raw, 'content-encoding').filter((coding) => coding.trim().toLowerCase() !== 'identity');
  if (type === undefined || others.length > 0 || !isUtf8Json(type) || codings.length > 0) return undefined;
  changeFields(fields, (name, value) => {
    if (OF_THE_BODY.has(name)) return undefined;
    return name === 'etag' && value.startsWith('"') ? `W/${value}` : value;
  });
  return new JsonLinks(toPublic);
}

/** `change` takes a name in lower case and the value; undefined removes the field. */
function changeFields(fields: string[], change: (name: string, value: string) => string | undefined): void {
  const kept: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] as string;
    const value = change(name.toLowerCase(), fields[at + 1] as string);
    if (value !== undefined) kept.push(name, value);
  }
  fields.splice(0, fields.length, ...kept);
}

const [QUOTE, BACKSLASH, SLASH, COLON] = [0x22, 0x5c, 0x2f, 0x3a];
/** In bytes, as written in JSON. No longer URL is accepted as a request target. */
const LONGEST = 8192;
const EMPTY = Buffer.alloc(0);

/** Where in the JSON text the next byte is. */
type State =
  /** Between strings. */
  | 'outside'
  /** Behind an opening quote. */
  | 'first'
  /** In a string that is no link. */
  | 'plain'
  /** In a string that may be a link. Its beginning is held back. */
  | 'link'
  /** Behind a string that is a link, and behind white space: a colon would make it the name of a member. */
  | 'after';

/**
 * Replaces links in JSON text, in one pass. Only strings that may be a link are held back, each up to LONGEST bytes, so
 * a body of any length needs little memory. Everything else is passed on byte for byte, whether or not it is JSON.
 */
class JsonLinks implements BodyMap {
  readonly #toPublic: (text: string) => string | undefined;
  #state: State = 'outside';
  /** Whether the last byte was a backslash that escapes the next one. */
  #escaped = false;
  /** What is held back: the beginning of a string without its opening quote, or in `after` what follows the string. */
  #held: Buffer = EMPTY;
  /** In `after`: the string as written, and as it should be. */
  #link: { readonly written: Buffer; readonly mapped: Buffer } | undefined;

  constructor(toPublic: (text: string) => string | undefined) {
    this.#toPublic = toPublic;
  }

  push(chunk: Buffer): Buffer {
    const out: Buffer[] = [];
    // Bytes before `from` are in `out` or held back, those before `at` have been read.
    let from = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#state === 'outside') {
        const quote = chunk.indexOf(QUOTE, at);
        if (quote !== -1) this.#state = 'first';
        at = quote === -1 ? chunk.length : quote + 1;
      } else if (this.#state === 'first') {
        if (mayBeginLink(chunk[at] as number)) {
          out.push(chunk.subarray(from, at));
          from = at;
          this.#state = 'link';
        } else this.#state = 'plain';
      } else if (this.#state === 'after') {
        const end = endOfSpace(chunk, at);
        if (end === chunk.length && this.#held.length + end - from < LONGEST) break;
        out.push(this.#decided(chunk[end]));
        at = end;
      } else {
        const end = this.#endOfString(chunk, at);
        at = end === -1 ? chunk.length : end + 1;
        if (this.#state === 'plain') {
          if (end !== -1) this.#state = 'outside';
        } else if (end !== -1) {
          out.push(this.#linkOr(chunk.subarray(from, end)));
          from = end;
        } else if (this.#held.length + chunk.length - from > LONGEST) {
          out.push(this.#held);
          this.#held = EMPTY;
          this.#state = 'plain';
        }
      }
    }
    const rest = chunk.subarray(from);
    if (this.#state === 'link' || this.#state === 'after') this.#held = Buffer.concat([this.#held, rest]);
    else out.push(rest);
    return Buffer.concat(out);
  }

  end(): Buffer {
    const rest = this.#state === 'after' ? this.#decided(undefined) : this.#held;
    this.#held = EMPTY;
    return rest;
  }

  /** Takes the rest of a string that may be a link. Returns what can be sent of it now. */
  #linkOr(rest: Buffer): Buffer {
    const written = Buffer.concat([this.#held, rest]);
    this.#held = EMPTY;
    const mapped = written.length > LONGEST ? undefined : this.#mapped(written.toString('utf8'));
    if (mapped === undefined) {
      this.#state = 'outside';
      // The closing quote has been read.
      return written;
    }
    this.#link = { written, mapped: Buffer.from(mapped) };
    this.#state = 'after';
    return EMPTY;
  }

  /** Takes the first byte behind a link and white space; returns all that was held back until now. */
  #decided(next: number | undefined): Buffer {
    const { written = EMPTY, mapped = EMPTY } = this.#link ?? {};
    const all = Buffer.concat([next === COLON ? written : mapped, this.#held]);
    this.#held = EMPTY;
    this.#link = undefined;
    this.#state = 'outside';
    return all;
  }

  /** Takes the inside of a string in JSON and returns it with its link mapped; undefined if nothing changes. */
  #mapped(written: string): string | undefined {
    const text = decoded(written);
    const mapped = text === undefined ? undefined : this.#toPublic(text);
    if (mapped === undefined || mapped === text) return undefined;
    const inside = JSON.stringify(mapped).slice(1, -1);
    // PHP writes slashes as `\/`.
    return written.includes('\\/') ? inside.replaceAll('/', '\\/') : inside;
  }

  /** The index of the closing quote, or -1. */
  #endOfString(chunk: Buffer, from: number): number {
    let at = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
    this.#escaped = at > chunk.length;
    return -1;
  }
}

/** `/` and `h`, also in upper case, and the backslash of an escaped slash. */
function mayBeginLink(byte: number): boolean {
  return byte === SLASH || byte === BACKSLASH || byte === 0x68 || byte === 0x48;
}

function endOfSpace(chunk: Buffer, from: number): number {
  let at = from;
  while (chunk[at] === 0x20 || chunk[at] === 0x0a || chunk[at] === 0x0d || chunk[at] === 0x09) at += 1;
  return at;
}

function decoded(inside: string): string | undefined {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return undefined;
  }
}
