import type { Audit } from '../operations/audit.ts';
import type { Clock, Store } from '../storage/store.ts';
import type { Suspensions } from './administration/suspensions.ts';
import type { Grants } from './grants.ts';
import type { Members } from './members.ts';

/** What members' pages and operators' commands both work with: the stored members, grants and suspensions, and what a change of them needs. */
export interface Core {
  readonly grants: Grants;
  readonly members: Members;
  readonly suspensions: Suspensions;
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
}
