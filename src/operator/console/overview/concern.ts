import { type Html, html } from '../../../http/html.ts';
import { pathOfTime } from '../history/range.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';

interface Link {
  readonly path: string;
  readonly name: string;
}

/** What an operator should look at: what is wrong, since when, whom it hits. */
export interface Concern {
  readonly level: 'bad' | 'warn';
  readonly text: Html;
  /** Pages of the console that help. */
  readonly see: readonly Link[];
}

/** Names in a sentence before it says how many more. */
export const MOST_NAMED = 5;

export const bad = (text: Html, ...see: readonly Link[]): Concern => ({ level: 'bad', text, see });
export const warn = (text: Html, ...see: readonly Link[]): Concern => ({ level: 'warn', text, see });

export const LINKS = {
  events: { path: pathOf('events'), name: 'Events' },
  keys: { path: pathOf('keys'), name: 'Keys' },
  observe: { path: pathOf('observe'), name: 'Observe mode' },
} as const satisfies Readonly<Record<string, Link>>;

/** The history of a time, in milliseconds since the epoch. */
export const historyOf = (at: number, times: Times): Link => ({ path: pathOfTime(at, times), name: 'History' });

/** "a, b and c". */
export function list(all: readonly Html[]): Html {
  const shown = all.slice(0, MOST_NAMED);
  const more = all.length - shown.length;
  const parts = more === 0 ? shown : [...shown, html`${more} more`];
  return html`${parts.map((part, at) => [at === 0 ? '' : at === parts.length - 1 ? ' and ' : ', ', part])}`;
}
