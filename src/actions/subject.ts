import type { GrantsOf } from '../authorization-server/grants.ts';
import type { Controls } from './controls.ts';

/** Members or apps. */
export interface ActionSubject {
  /** Of the lookup of one. */
  readonly path: string;
  /** The command that lists them. */
  readonly list: string;
  grants(id: string): GrantsOf;
  describe(controls: Pick<Controls, 'account'>, id: string): Promise<Described>;
  /** Says that nothing is known of these ids. */
  unknown(ids: readonly string[]): string;
}

/** What is known of a member or an app. */
export interface Described {
  readonly known?: boolean;
  readonly state?: string;
  readonly grants: readonly unknown[];
  readonly connections?: number;
}

/** An id that the gate has never seen is more likely a typing error than a member or an app. */
export function isUnknown({ known, state, grants }: Described): boolean {
  return known === false && state !== 'suspended' && grants.length === 0;
}
