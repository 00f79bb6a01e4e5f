import type { Html } from '../../../http/html.ts';

/** What an operator should look at. */
export interface Concern {
  readonly level: 'bad' | 'warn';
  /** What is wrong, since when, and whom it hits. */
  readonly text: Html;
  /** A page of the console that helps. */
  readonly see: { readonly path: string; readonly name: string } | undefined;
}

export const bad = (text: Html, see?: Concern['see']): Concern => ({ level: 'bad', text, see });
export const warn = (text: Html, see?: Concern['see']): Concern => ({ level: 'warn', text, see });
