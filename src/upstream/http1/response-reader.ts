import { unusableResponse } from '../failures.ts';
import { ChunkedBody } from './chunked-body.ts';
import { CHUNKED, type ResponseFraming, responseFraming, UNTIL_CLOSE } from './framing.ts';
import { ParsedHead } from './response-head.ts';

/** What takes a response as it arrives. Both return whether more may follow immediately. */
export interface ResponseSink {
  /** Interim responses have heads, too. */
  head(status: number, fields: readonly string[]): boolean;
  data(bytes: Buffer, from: number, to: number): boolean;
}

/** Reads one response after the other from the bytes of a connection. Throws GatewayError `upstream_invalid`. */
export class ResponseReader {
  readonly #sink: ResponseSink;
  readonly #head = new ParsedHead();
  #method = '';
  /** Undefined until the head of the final response has arrived. */
  #framing: ResponseFraming | undefined;
  #left = 0;
  #chunks: ChunkedBody | undefined;
  #mayGoOn = true;
  readonly #data = (bytes: Buffer, from: number, to: number): boolean => {
    this.#mayGoOn = this.#sink.data(bytes, from, to);
    return this.#mayGoOn;
  };

  constructor(sink: ResponseSink) {
    this.#sink = sink;
  }

  /** Begins with the response to another request. */
  start(method: string): void {
    this.#method = method;
    this.#framing = undefined;
    this.#chunks = undefined;
    this.#head.reset();
  }

  get hasFinalHead(): boolean {
    return this.#framing !== undefined;
  }

  get isComplete(): boolean {
    if (this.#framing === undefined) return false;
    return this.#chunks === undefined ? this.#left === 0 : this.#chunks.isOver;
  }

  /** The end of the connection is the end of this body. */
  get endsWithConnection(): boolean {
    return this.#framing?.length === UNTIL_CLOSE;
  }

  /** Milliseconds for which the connection may be kept after this response; 0: it must be closed. */
  get keep(): number {
    return this.#framing?.keep ?? 0;
  }

  /**
   * Reads on until the response or the bytes end, or the sink wants no more. Returns the place of the first byte that
   * was not used: those that are left of an incomplete head have to be passed again with those that follow.
   */
  read(bytes: Buffer, from: number, to: number): number {
    let at = from;
    this.#mayGoOn = true;
    while (at < to && this.#mayGoOn && !this.isComplete) {
      const next = this.#framing === undefined ? this.#readHead(bytes, at, to) : this.#readBody(bytes, at, to);
      // More bytes are needed.
      if (next === at) break;
      at = next;
    }
    return at;
  }

  #readHead(bytes: Buffer, from: number, to: number): number {
    const head = this.#head;
    const length = head.parse(bytes, from, to);
    if (length === 0) return from;
    const { status, fields } = head;
    // Neither was asked for.
    if (status === 100 || status === 101) throw unusableResponse(`status ${status}`);
    const framing = responseFraming(head, this.#method);
    head.reset();
    if (status >= 200) {
      this.#framing = framing;
      this.#left = framing.length;
      if (framing.length === CHUNKED) this.#chunks = new ChunkedBody(this.#data);
    }
    this.#mayGoOn = this.#sink.head(status, fields);
    return from + length;
  }

  #readBody(bytes: Buffer, from: number, to: number): number {
    if (this.#chunks !== undefined) return this.#chunks.read(bytes, from, to);
    let end = to;
    if (this.#left !== UNTIL_CLOSE) {
      end = Math.min(to, from + this.#left);
      this.#left -= end - from;
    }
    this.#data(bytes, from, end);
    return end;
  }
}
