import { GatewayError } from '../../errors.ts';
import type { Entry, Store } from '../../storage/store.ts';

export interface PageWanted {
  /** What `next` of the page before said; undefined: the first. */
  readonly cursor: string | undefined;
  /** At most so many. */
  readonly limit: number;
}

export interface Page<T> {
  readonly found: readonly T[];
  /** For the next page, which may turn out to be empty; undefined: that was all. */
  readonly next: string | undefined;
}

/** Where a walk is: in which of the kinds, where in the store, and how many of what was found there are given already. */
interface Place {
  readonly kind: number;
  readonly from: string | undefined;
  readonly given: number;
}

/** Entries looked at in one step of a walk, and milliseconds after which a page ends, however little is on it. */
const STEP = 500;
const LONGEST = 1000;

/** One page of what `read` makes of the entries of these kinds; it leaves out what it gives undefined for. */
export async function pageOf<T>(
  store: Store,
  kinds: readonly string[],
  { cursor, limit }: PageWanted,
  read: (entry: Entry) => T | undefined,
): Promise<Page<T>> {
  const until = performance.now() + LONGEST;
  let { kind, from, given } = placeOf(cursor, kinds.length);
  const found: T[] = [];
  while (kind < kinds.length) {
    const { entries, next } = await store.scan(kinds[kind], from, STEP);
    const fitting = entries.flatMap((entry) => read(entry) ?? []).slice(given);
    const room = limit - found.length;
    found.push(...fitting.slice(0, room));
    if (fitting.length > room) return { found, next: cursorOf({ kind, from, given: given + room }) };
    given = 0;
    from = next;
    if (next === undefined) kind += 1;
    if (found.length === limit || performance.now() > until) break;
  }
  return { found, next: kind < kinds.length ? cursorOf({ kind, from, given: 0 }) : undefined };
}

function cursorOf({ kind, from, given }: Place): string {
  return Buffer.from(JSON.stringify([kind, from ?? null, given])).toString('base64url');
}

/** Throws GatewayError `invalid_request`. */
function placeOf(cursor: string | undefined, kinds: number): Place {
  if (cursor === undefined) return { kind: 0, from: undefined, given: 0 };
  try {
    const [kind, from, given] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    const isIndex = (value: unknown, below: number) =>
      typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < below;
    if (isIndex(kind, kinds) && isIndex(given, STEP * 10) && (from === null || typeof from === 'string'))
      return { kind: kind as number, from: from ?? undefined, given: given as number };
  } catch {}
  throw new GatewayError('invalid_request', { message: 'The cursor is none that an earlier page gave.' });
}
