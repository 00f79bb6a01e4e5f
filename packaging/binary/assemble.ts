import { DYNAMIC, Elf, FLAG, PAGE, roundUp, SEGMENT, SEGMENT_ROW, type Segment, writeSegments } from './elf.ts';

/** What a single binary is made of. */
export interface Parts {
  /** Node's executable. */
  readonly node: Buffer;
  /** The output of `node --experimental-sea-config`. */
  readonly application: Buffer;
  /** The executable made of `loader/loader.c`. */
  readonly loader: Buffer;
  /** libstdc++.so.6 and libgcc_s.so.1. */
  readonly libraries: readonly [Buffer, Buffer];
}

/** Where the loader's entry point is, and what is before it: `struct program`. See `loader/layout.ld`. */
const LOADER_ENTRY = 128;
const LOADER_LIBRARIES = 40;
/** Node looks for its application in a note of this name if the character behind the marker is 1. */
const NOTE = 'NODE_SEA_BLOB';
const MARKER = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:';

/**
 * Adds the application and the loader to Node. The result contains every byte that Node loads at the same address; it is
 * without symbols, and names no dynamic loader, since `loader.c` does its work.
 */
export function assemble({ node, application, loader, libraries }: Parts): Buffer {
  const elf = new Elf(node).stripped();
  if (!elf.fixed) throw new Error('this Node is position-independent, which the loader does not know');
  enableApplication(elf.bytes);

  const interpreter = elf.segment(SEGMENT.interpreter);
  const loads = elf.segments.filter(({ type }) => type === SEGMENT.load);
  const code = roomiest(loads);
  const image = loadedPart(new Elf(loader));
  const at = roundUp(code.size, 4096);
  const address = code.address + at;
  if (at + image.length > code.room) throw new Error('there is no room for the loader behind the code of Node');
  const extended = { ...code.segment, fileSize: at + image.length, size: at + image.length };

  const note = noteOf(application);
  const table = Buffer.alloc((elf.segments.length + 1) * SEGMENT_ROW);
  const data = layOut([table, note, ...libraries], elf.bytes.length, addressEnd(loads));
  const [tableAddress = 0, noteAddress = 0, ...libraryAddresses] = data.addresses;
  const noteOffset = data.segment.offset + noteAddress - data.segment.address;
  const forKernel = elf.segments
    .filter(({ type }) => type !== SEGMENT.interpreter && type !== SEGMENT.note)
    .map((one) => (one.type === SEGMENT.load && one.offset === code.segment.offset ? extended : one))
    .concat({
      ...data.segment,
      type: SEGMENT.note,
      ...sized(note),
      offset: noteOffset,
      address: noteAddress,
      align: 4,
    });
  forKernel.splice(forKernel.findLastIndex(({ type }) => type === SEGMENT.load) + 1, 0, data.segment);
  const forLoader = forKernel.map((one) =>
    one.type === SEGMENT.table ? { ...one, ...sized(table), offset: data.segment.offset, address: tableAddress } : one,
  );
  writeSegments(table, [...forLoader.slice(0, 1), interpreter, ...forLoader.slice(1)]);

  const { names, addresses } = addDependencies(elf);
  image.set(words([elf.entry, tableAddress, table.length / SEGMENT_ROW, interpreter.address, names]));
  for (const [index, library] of libraries.entries()) {
    const place = [libraryAddresses[index] ?? 0, library.length, addresses[index] ?? 0];
    image.set(words(place), LOADER_LIBRARIES + index * 24);
  }
  elf.bytes.set(image, code.segment.offset + at);
  elf.entry = address + LOADER_ENTRY;
  elf.segments = forKernel;
  const content = Buffer.concat([table, note, ...libraries].map(padded));
  return Buffer.concat([elf.bytes, Buffer.alloc(data.segment.offset - elf.bytes.length), content]);
}

const sized = ({ length }: Buffer) => ({ fileSize: length, size: length });
const padded = (part: Buffer) => Buffer.concat([part], roundUp(part.length, 16));
const addressEnd = (segments: readonly Segment[]) => Math.max(...segments.map((one) => one.address + one.size));

function enableApplication(bytes: Buffer): void {
  const at = bytes.indexOf(`${MARKER}0`);
  if (at === -1 || bytes.indexOf(`${MARKER}0`, at + 1) !== -1) throw new Error('this Node takes no application');
  bytes.write('1', at + MARKER.length);
}

/** The segment of code with the most unused addresses behind it. */
function roomiest(loads: readonly Segment[]) {
  const rooms = loads.flatMap((segment, index) => {
    const next = loads[index + 1];
    if ((segment.flags & FLAG.execute) === 0 || next === undefined) return [];
    const room = Math.min(next.address - (next.address % PAGE) - segment.address, next.offset - segment.offset);
    return [{ segment, room, size: segment.size, address: segment.address }];
  });
  const [best] = rooms.toSorted((one, other) => other.room - other.size - (one.room - one.size));
  if (best === undefined) throw new Error('Node has no code');
  return best;
}

/** What is loaded of the loader: one segment at address 0. */
function loadedPart(loader: Elf): Buffer {
  const { offset, address, fileSize, size } = loader.segment(SEGMENT.load);
  if (address !== 0 || size !== fileSize) throw new Error('the loader has data, or an address');
  return Buffer.from(loader.bytes.subarray(offset, offset + fileSize));
}

function noteOf(content: Buffer): Buffer {
  const name = Buffer.alloc(roundUp(NOTE.length + 1, 4));
  name.write(NOTE);
  const header = Buffer.alloc(12);
  header.writeUInt32LE(NOTE.length + 1, 0);
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, name, content], roundUp(header.length + name.length + content.length, 4));
}

/** Lays out what is added behind the end of a file and of its addresses, in one segment for reading only. */
function layOut(parts: readonly Buffer[], fileEnd: number, addressEnd: number) {
  const offset = roundUp(fileEnd, PAGE);
  const address = roundUp(addressEnd, PAGE);
  const addresses: number[] = [];
  let size = 0;
  for (const part of parts) {
    addresses.push(address + size);
    size += roundUp(part.length, 16);
  }
  const segment = { type: SEGMENT.load, flags: FLAG.read, offset, address, fileSize: size, size, align: PAGE };
  return { segment, addresses };
}

/**
 * Puts two dependencies before Node's own. They name its first one again, so that they change nothing, until the loader
 * writes other names there. Returns the addresses to write to, and that of all names.
 */
function addDependencies(elf: Elf) {
  const { entries, spare } = elf.dynamic();
  const first = entries.find(([tag]) => tag === DYNAMIC.needed);
  const names = entries.find(([tag]) => tag === DYNAMIC.names)?.[1];
  if (first === undefined || names === undefined || spare < 2) throw new Error('Node has another dynamic section');
  elf.setDynamic([first, first, ...entries]);
  const { address } = elf.segment(SEGMENT.dynamic);
  return { names, addresses: [address + 8, address + 24] };
}

function words(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), index * 8);
  return bytes;
}
