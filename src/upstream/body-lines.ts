/** In bytes. */
export const LONGEST_LINE = 4096;
const LINE_FEED = 10;

/** Called with a complete line. Returns whether the line shows that the upstream is at work. */
export type OnLine = (line: string) => boolean;

/** Reads the lines of a body as they arrive. Lines over 4 KiB are passed over, and so is the end without a line feed. */
export class BodyLines {
  readonly #onLine: OnLine;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(onLine: OnLine) {
    this.#onLine = onLine;
  }

  /** Returns whether one of the lines that end in this chunk shows that the upstream is at work. */
  read(chunk: Buffer): boolean {
    let from = 0;
    let atWork = false;
    for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
      this.#add(chunk.subarray(from, to));
      if (this.#length <= LONGEST_LINE && this.#onLine(Buffer.concat(this.#parts).toString())) atWork = true;
      this.#parts = [];
      this.#length = 0;
      from = to + 1;
    }
    this.#add(chunk.subarray(from));
    return atWork;
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= LONGEST_LINE) this.#parts.push(part);
    else this.#parts = [];
  }
}
