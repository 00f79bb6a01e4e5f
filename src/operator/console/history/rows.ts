import type { Html, HtmlValue } from '../../../http/html.ts';

export const KINDS = {
  audit: 'Members and operators',
  attempts: 'Attempts that stopped',
  refusals: 'Refusals',
  failures: 'Failures and slow answers',
  gate: 'The gate itself',
} as const;

export type HistoryKind = keyof typeof KINDS;

/** Something that happened in a minute. */
export interface HistoryRow {
  readonly kind: HistoryKind;
  readonly level: 'bad' | 'warn' | 'plain';
  /** Milliseconds since the epoch; undefined for what was only counted. */
  readonly at?: number;
  /** In a sentence. */
  readonly text: Html;
  /** What else is known, in short phrases. */
  readonly about?: readonly HtmlValue[];
  /** For the line of the minute: `12 refusals`, added up over rows with the same noun. 0: it is nothing special. */
  readonly count: number;
  readonly noun: string;
  /** What the line of the minute says instead of a count. */
  readonly state?: string;
}
