import { createHash } from 'node:crypto';
import type { ToolConfig } from '../config/schema.ts';
import { Turns } from '../http/turns.ts';
import type { Input } from './argument-template.ts';
import { shorten } from './shorten.ts';

/** How a tool's result is told in parts, as the configuration says it. */
export type Paging = NonNullable<ToolConfig['paging']>;

/** Where in a result a part begins, and what the tool's own cursor was for that result. */
export interface Place {
  readonly cursor: string | undefined;
  readonly from: number;
}

const MARK = 'part.';
const LATEST = 10_000_000;
/** Characters of a cursor of ours, with the tool's own in it: as long as a request to the school may be. */
const LONGEST = 8192;

/**
 * The cursor of the next part: it names the place, and the call it belongs to, so that it is not taken for a place in
 * another list. It is no secret and opens nothing: what it leads to is asked for anew, by whoever shows it.
 */
export function cursorAt(place: Place, input: Input, { argument }: Paging): string {
  const { [argument]: _, ...others } = input;
  const text = JSON.stringify([place.from, fingerprint(others), ...(place.cursor === undefined ? [] : [place.cursor])]);
  return MARK + Buffer.from(text).toString('base64url');
}

/**
 * Reads the cursor of a call. Out: the place, and the arguments the tool itself is called with; undefined for a cursor of
 * ours that is not one of this call. What does not look like ours is the tool's own.
 */
export function placeOf(
  input: Input,
  { argument }: Paging,
): { readonly place: Place; readonly input: Input } | undefined {
  const given = Object.hasOwn(input, argument) ? input[argument] : undefined;
  if (typeof given !== 'string' || !given.startsWith(MARK)) {
    const cursor = given === undefined || given === null ? undefined : String(given);
    return { place: { cursor, from: 0 }, input };
  }
  const { [argument]: _, ...others } = input;
  const [from, of, cursor] = read(given.slice(MARK.length));
  const isPlace = typeof from === 'number' && Number.isInteger(from) && from > 0 && from <= LATEST;
  if (!isPlace || of !== fingerprint(others) || !(cursor === undefined || typeof cursor === 'string')) return undefined;
  return { place: { cursor, from }, input: cursor === undefined ? others : { ...others, [argument]: cursor } };
}

function read(text: string): readonly unknown[] {
  if (text.length > LONGEST) return [];
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function fingerprint(others: Input): string {
  const sorted = Object.entries(others).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 12);
}

/**
 * A part of a result, and how much of the whole it is; `next` is where the rest begins, undefined when there is none;
 * `left` says what of its one item was left out, which alone is too long.
 */
export interface Part {
  readonly value: Readonly<Record<string, unknown>>;
  readonly next: number | undefined;
  readonly shown: number;
  readonly of: number;
  readonly left?: string;
}

/**
 * Cuts a result to what fits. In: the whole result, whose member `paging.of` is a list or a text, where to begin, and
 * whether a result of this form fits; and
 * how many bytes there are for it when another part follows. Out: the longest part that fits, cut between items or characters, or one item,
 * shortened, when not even that fits; undefined when nothing of it would, or there is nothing from there on.
 */
export async function cutResult(
  whole: Readonly<Record<string, unknown>>,
  { of }: Paging,
  from: number,
  fits: (value: Readonly<Record<string, unknown>>, isLast: boolean) => boolean,
  room: number,
): Promise<Part | undefined> {
  const turns = new Turns();
  const all = whole[of];
  if (!Array.isArray(all) && typeof all !== 'string') return undefined;
  if (from > 0 && from >= all.length) return undefined;
  const upTo = (to: number) => ({ ...whole, [of]: all.slice(from, boundary(all, to)) });
  const part = (to: number): Part => {
    const end = boundary(all, to);
    return { value: upTo(to), next: end < all.length ? end : undefined, shown: end - from, of: all.length };
  };
  if (fits(upTo(all.length), true)) return part(all.length);
  let [least, most] = [from, all.length - 1];
  while (least < most) {
    if (turns.isOver) await turns.next();
    const middle = Math.ceil((least + most) / 2);
    if (fits(upTo(middle), false)) least = middle;
    else most = middle - 1;
  }
  if (boundary(all, least) > from) return part(least);
  if (typeof all === 'string' || all.length === 0) return undefined;
  const one = part(from + 1);
  const short = await shorten(one.value, room);
  return short === undefined ? undefined : { ...one, value: short.value as Part['value'], left: short.left };
}

/** A character of two halves stays whole. */
function boundary(all: string | readonly unknown[], to: number): number {
  if (typeof all !== 'string') return to;
  const code = all.charCodeAt(to - 1);
  return to < all.length && code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}
