/** One row of the table of segments (program headers). Offsets and sizes in bytes. */
export interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileSize: number;
  readonly size: number;
  readonly align: number;
}

export const SEGMENT = { load: 1, dynamic: 2, interpreter: 3, note: 4, table: 6 } as const;
export const FLAG = { execute: 1, read: 4 } as const;
/** Tags of the dynamic section. */
export const DYNAMIC = { end: 0, needed: 1, names: 5 } as const;

const HEADER = { type: 16, entry: 24, segmentsAt: 32, sectionsAt: 40, segmentSize: 54, segments: 56, sections: 60 };
export const SEGMENT_ROW = 56;
const FIXED_ADDRESS = 2;
/** A multiple of the size of a page on every processor. */
export const PAGE = 65_536;

export const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

const read = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at));
const write = (bytes: Buffer, at: number, value: number) => bytes.writeBigUInt64LE(BigInt(value), at);

/** Writes a table of segments. */
export function writeSegments(bytes: Buffer, rows: readonly Segment[]): void {
  for (const [index, row] of rows.entries()) {
    const at = index * SEGMENT_ROW;
    bytes.writeUInt32LE(row.type, at);
    bytes.writeUInt32LE(row.flags, at + 4);
    for (const [place, value] of [row.offset, row.address, row.address, row.fileSize, row.size, row.align].entries()) {
      write(bytes, at + 8 + place * 8, value);
    }
  }
}

/** An executable for Linux, 64 bits, little-endian; `bytes` is changed in place. Throws if it is another kind of file. */
export class Elf {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    if (bytes.readUInt32BE(0) !== 0x7f_45_4c_46 || bytes[4] !== 2 || bytes[5] !== 1)
      throw new Error('no ELF of 64 bits');
    this.bytes = bytes;
  }

  /** Whether it runs at the addresses it names, and not wherever it is loaded to. */
  get fixed(): boolean {
    return this.bytes.readUInt16LE(HEADER.type) === FIXED_ADDRESS;
  }

  get entry(): number {
    return read(this.bytes, HEADER.entry);
  }

  set entry(address: number) {
    write(this.bytes, HEADER.entry, address);
  }

  get segments(): readonly Segment[] {
    const start = read(this.bytes, HEADER.segmentsAt);
    return Array.from({ length: this.bytes.readUInt16LE(HEADER.segments) }, (_, index) => {
      const at = start + index * SEGMENT_ROW;
      return {
        type: this.bytes.readUInt32LE(at),
        flags: this.bytes.readUInt32LE(at + 4),
        offset: read(this.bytes, at + 8),
        address: read(this.bytes, at + 16),
        fileSize: read(this.bytes, at + 32),
        size: read(this.bytes, at + 40),
        align: read(this.bytes, at + 48),
      };
    });
  }

  /** As many as there are now, since the table cannot grow. */
  set segments(rows: readonly Segment[]) {
    if (rows.length !== this.segments.length) throw new Error('the table of segments has another length');
    writeSegments(this.bytes.subarray(read(this.bytes, HEADER.segmentsAt)), rows);
  }

  /** The first segment of a type. Throws if there is none. */
  segment(type: number): Segment {
    const found = this.segments.find((one) => one.type === type);
    if (found === undefined) throw new Error(`no segment of type ${type}`);
    return found;
  }

  /** Entries of the dynamic section up to its end, each with its address; `spare` more entries fit behind them. */
  dynamic(): { readonly entries: readonly (readonly [tag: number, value: number])[]; readonly spare: number } {
    const { offset, fileSize } = this.segment(SEGMENT.dynamic);
    const all = Array.from({ length: fileSize / 16 }, (_, index) => {
      const at = offset + index * 16;
      return [read(this.bytes, at), read(this.bytes, at + 8)] as const;
    });
    const end = all.findIndex(([tag]) => tag === DYNAMIC.end);
    return { entries: all.slice(0, end), spare: all.length - end - 1 };
  }

  setDynamic(entries: readonly (readonly [tag: number, value: number])[]): void {
    const { offset } = this.segment(SEGMENT.dynamic);
    for (const [index, [tag, value]] of entries.entries()) {
      write(this.bytes, offset + index * 16, tag);
      write(this.bytes, offset + index * 16 + 8, value);
    }
  }

  /** The file up to the end of its last segment: without its symbols and its debugging information. */
  stripped(): Elf {
    const end = Math.max(...this.segments.map(({ offset, fileSize }) => offset + fileSize));
    const bytes = Buffer.from(this.bytes.subarray(0, end));
    write(bytes, HEADER.sectionsAt, 0);
    bytes.fill(0, HEADER.sections, HEADER.sections + 4);
    return new Elf(bytes);
  }
}
