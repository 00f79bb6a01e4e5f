import { AccountError } from '../errors.ts';
import type { Position } from './cursor.ts';

/** The window a client asks for: how many items, and after which. */
export interface Window {
  readonly first: number;
  readonly after: Position | undefined;
}

/** What an upstream's pages have of a window. */
export interface Rows {
  readonly rows: readonly { readonly row: unknown; readonly at: Position }[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly total: number | null;
}

/** One page as the upstream gave it; undefined when there is none. */
export interface Page {
  readonly items: readonly unknown[];
  readonly total: number | null;
  /** What `next` says: undefined without one, null on the last page. */
  readonly next: unknown;
}

/** Asks for a page. In: what $page stands for. */
export type ReadPage = (page: Readonly<Record<string, unknown>>) => Promise<Page>;

/** A page that would make a client miss items, or see some twice, without a word. */
export function unusable(source: string, what: string): AccountError {
  return new AccountError('UPSTREAM_BAD_RESPONSE', { cause: new Error(`${source}: ${what}`) });
}
