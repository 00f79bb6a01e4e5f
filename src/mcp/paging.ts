import type { ToolConfig } from '../config/schema.ts';
import { readCursor, writeCursor } from '../http/cursor.ts';
import type { ToolInput } from './argument-template.ts';
import { fingerprint } from './once.ts';
import { longestThat, shorten } from './shorten.ts';

/** How a tool's result is split into pages, from the configuration. */
export type Paging = NonNullable<ToolConfig['paging']>;

/** Where in a result a page begins, and the tool's own cursor for that result. */
export interface ResultPosition {
  readonly cursor: string | undefined;
  readonly from: number;
}

const MARK = 'part.';
const LATEST = 10_000_000;
/**
 * Maximum length of the gate's cursors in characters, including the tool's own cursor: the same as for a request
 * target.
 */
const LONGEST = 8192;

/**
 * The cursor of the next page. It contains the position and a fingerprint of the call, so that it cannot be used for
 * another list. It is not a secret and grants no access: the result is requested again with the rights of the caller.
 */
export function cursorAt(place: ResultPosition, input: ToolInput, { argument }: Paging): string {
  const { [argument]: _, ...others } = input;
  return MARK + writeCursor([place.from, callOf(others), ...(place.cursor === undefined ? [] : [place.cursor])]);
}

/**
 * Reads the cursor of a call. Returns the position and the arguments for the tool itself, or undefined if it is one of
 * the gate's cursors but belongs to another call. A cursor in another format is the tool's own.
 */
export function placeOf(
  input: ToolInput,
  { argument }: Paging,
): { readonly place: ResultPosition; readonly input: ToolInput } | undefined {
  const given = Object.hasOwn(input, argument) ? input[argument] : undefined;
  if (typeof given !== 'string' || !given.startsWith(MARK)) {
    const cursor = given === undefined || given === null ? undefined : String(given);
    return { place: { cursor, from: 0 }, input };
  }
  const { [argument]: _, ...others } = input;
  const position = readCursor(given.slice(MARK.length), LONGEST);
  const [from, of, cursor]: readonly unknown[] = Array.isArray(position) ? position : [];
  const isPlace = typeof from === 'number' && Number.isInteger(from) && from > 0 && from <= LATEST;
  if (!isPlace || of !== callOf(others) || !(cursor === undefined || typeof cursor === 'string')) return undefined;
  return { place: { cursor, from }, input: cursor === undefined ? others : { ...others, [argument]: cursor } };
}

/** Identifies the call by its other arguments. */
function callOf(others: ToolInput): string {
  return fingerprint(others).slice(0, 12);
}

/**
 * A page of a result: `shown` of `of` items or characters. `next` is where the rest begins, undefined if there is
 * none. `left` describes what was left out of a single item that is too long by itself.
 */
export interface ResultPage {
  readonly value: Readonly<Record<string, unknown>>;
  readonly next: number | undefined;
  readonly shown: number;
  readonly of: number;
  readonly left?: string;
}

/**
 * Cuts a result to the longest page that fits.
 *
 * @param whole the whole result; its member `paging.of` is a list or a text
 * @param fits whether a page fits; `isLast` is false if another page follows, whose cursor needs space as well
 * @param room bytes available for the page if another page follows
 * @returns the page, cut between items or characters; a single item, shortened, if not even that fits; undefined if
 * nothing fits or there is nothing at `from`
 */
export async function cutResult(
  whole: Readonly<Record<string, unknown>>,
  { of }: Paging,
  from: number,
  fits: (value: Readonly<Record<string, unknown>>, isLast: boolean) => boolean,
  room: number,
): Promise<ResultPage | undefined> {
  const all = whole[of];
  if (!Array.isArray(all) && typeof all !== 'string') return undefined;
  if (from > 0 && from >= all.length) return undefined;
  const upTo = (to: number) => ({ ...whole, [of]: all.slice(from, boundary(all, to)) });
  const part = (to: number): ResultPage => {
    const end = boundary(all, to);
    return { value: upTo(to), next: end < all.length ? end : undefined, shown: end - from, of: all.length };
  };
  if (fits(upTo(all.length), true)) return part(all.length);
  const least = await longestThat((to) => fits(upTo(to), false), from, all.length - 1);
  if (boundary(all, least) > from) return part(least);
  if (typeof all === 'string' || all.length === 0) return undefined;
  const one = part(from + 1);
  const short = await shorten(one.value, room);
  return short === undefined ? undefined : { ...one, value: short.value as ResultPage['value'], left: short.left };
}

/** Does not split a surrogate pair. */
function boundary(all: string | readonly unknown[], to: number): number {
  if (typeof all !== 'string') return to;
  const code = all.charCodeAt(to - 1);
  return to < all.length && code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}
