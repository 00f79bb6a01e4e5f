import { unusableResponse } from '../failures.ts';
import { isQuotable, isToken, ParsedHead } from './response-head.ts';

/** Digits of a chunk's size: as many as are always exact. */
const MOST_DIGITS = 13;
/** Bytes of all extensions of a body. They are ignored (RFC 9112 section 7.1.1). */
const MOST_EXTENSIONS = 16 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The value of a hexadecimal digit; 255 for all other bytes. */
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte);
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : 255;
});

/** Takes the bytes `from` to `to` as data. Returns whether more may follow immediately. */
type Sink = (bytes: Buffer, from: number, to: number) => boolean;

type Part = 'size' | Extension | 'size end' | 'data' | 'data end' | 'data line feed' | 'trailers' | 'over';

/** Where in a chunk extension the next byte is. */
type Extension = 'name start' | 'name' | 'value start' | 'value' | 'quoted' | 'escaped' | 'quoted end';

/**
 * Reads a chunked body (RFC 9112 section 7.1), strictly: sizes are plain digits, every line ends in CRLF, and trailers
 * are parsed like header fields and dropped. Throws GatewayError `upstream_invalid`.
 */
export class ChunkedBody {
  readonly #sink: Sink;
  #part: Part = 'size';
  #digits = 0;
  #left = 0;
  #extensions = 0;
  readonly #trailers = new ParsedHead();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get isOver(): boolean {
    return this.#part === 'over';
  }

  /**
   * Reads on until the bytes end, the body ends, or the sink wants no more. Returns the place of the first byte that was
   * not used: of an incomplete trailer section, all have to be passed again with those that follow.
   */
  read(bytes: Buffer, from: number, to: number): number {
    let at = from;
    while (at < to && this.#part !== 'over') {
      if (this.#part === 'data') {
        const end = Math.min(to, at + this.#left);
        this.#left -= end - at;
        if (this.#left === 0) this.#part = 'data end';
        const more = this.#sink(bytes, at, end);
        at = end;
        if (!more) return at;
      } else if (this.#part === 'trailers') {
        const length = this.#trailers.parseTrailers(bytes, at, to);
        if (length === 0) return at;
        refuseFraming(this.#trailers.fields);
        this.#part = 'over';
        return at + length;
      } else {
        this.#line(bytes[at] as number);
        at += 1;
      }
    }
    return at;
  }

  /** One byte of the lines around the data. */
  #line(byte: number): void {
    switch (this.#part) {
      case 'size':
        if (HEX[byte] !== 255) {
          this.#digits += 1;
          if (this.#digits > MOST_DIGITS) throw unusableResponse('an invalid chunk');
          this.#left = this.#left * 16 + (HEX[byte] as number);
        } else if (this.#digits > 0 && byte === CR) this.#part = 'size end';
        else if (this.#digits > 0 && byte === SEMICOLON) this.#part = 'name start';
        else throw unusableResponse('an invalid chunk');
        break;
      case 'data end':
        if (byte !== CR) throw unusableResponse('an invalid chunk');
        this.#part = 'data line feed';
        break;
      case 'size end':
      case 'data line feed':
        if (byte !== LF) throw unusableResponse('an invalid chunk');
        if (this.#part === 'data line feed') this.#part = 'size';
        else this.#part = this.#left === 0 ? 'trailers' : 'data';
        this.#digits = 0;
        break;
      default:
        this.#extensions += 1;
        if (this.#extensions > MOST_EXTENSIONS) throw unusableResponse('chunk extensions that are too large');
        this.#part = afterExtension(this.#part as Extension, byte);
    }
  }
}

/** The part of a chunk's first line after one more byte of an extension: `;name`, `;name=token` or `;name="string"`. */
function afterExtension(part: Extension, byte: number): Part {
  switch (part) {
    case 'quoted':
      if (byte === QUOTE) return 'quoted end';
      if (byte === BACKSLASH) return 'escaped';
      if (isQuotable(byte)) return part;
      break;
    case 'escaped':
      if (isQuotable(byte)) return 'quoted';
      break;
    case 'value start':
      if (byte === QUOTE) return 'quoted';
      if (isToken(byte)) return 'value';
      break;
    default:
      if (isToken(byte) && part !== 'quoted end') return part === 'name start' ? 'name' : part;
      if (part === 'name start') break;
      if (byte === CR) return 'size end';
      if (byte === SEMICOLON) return 'name start';
      if (byte === EQUALS && part === 'name') return 'value start';
  }
  throw unusableResponse('an invalid chunk extension');
}

/** A recipient that merges trailers into the head would see another framing (RFC 9110 section 6.5.1). */
function refuseFraming(trailers: readonly string[]): void {
  for (let at = 0; at < trailers.length; at += 2) {
    if (/^(content-length|transfer-encoding)$/i.test(trailers[at] as string))
      throw unusableResponse('framing in a trailer');
  }
}
