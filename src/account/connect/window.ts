import { AccountError } from '../errors.ts';
import type { Position } from './cursor.ts';
import { MappingValueError } from './mapping-value.ts';

/** The window a client requests: how many items, and after which position. */
export interface PageWindow {
  readonly first: number;
  readonly after: Position | undefined;
}

/** An item as returned by the upstream, with its position. */
export interface WindowRow {
  readonly row: unknown;
  readonly at: Position;
}

/** The part of a window that an upstream's pages have. */
export interface WindowRows {
  readonly rows: readonly WindowRow[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly total: number | null;
}

/** One page as returned by the upstream. */
export interface UpstreamPage {
  readonly items: readonly unknown[];
  /** Whether each item belongs to the connection; undefined if all do. */
  readonly kept: readonly boolean[] | undefined;
  readonly total: number | null;
  /** The value of `next`: undefined if the mapping has none, null on the last page. */
  readonly next: unknown;
}

/** Requests a page. `page` is the value of $page. */
export type ReadPage = (page: Readonly<Record<string, unknown>>) => Promise<UpstreamPage>;

/** The error for a response that cannot be used, such as a page that would make a client miss items. */
export function unusable(source: string, what: string): AccountError {
  return new AccountError('UPSTREAM_BAD_RESPONSE', { cause: new MappingValueError(`${source}: ${what}`) });
}

/** Number of items for an explicit null. If `first` is omitted, the contract's default applies. */
const DEFAULT_ITEMS = 20;

/** The window for a null. */
export function defaultFirst(largestWindow: number): number {
  return Math.min(DEFAULT_ITEMS, largestWindow);
}

/** @throws {AccountError} when a window is larger than the API allows */
export function refuseWindow(args: Readonly<Record<string, unknown>>, largestWindow: number): void {
  if (!isOutsideWindow(args, largestWindow)) return;
  throw new AccountError('BAD_USER_INPUT', { message: `The argument first must be from 0 to ${largestWindow}.` });
}

/** Whether a window is larger than the API allows. */
export function isOutsideWindow({ first }: Readonly<Record<string, unknown>>, largestWindow: number): boolean {
  return typeof first === 'number' && (first < 0 || first > largestWindow);
}
