import type { Audit } from '../operations/audit.ts';
import type { Clock, Store } from '../storage/store.ts';
import type { Suspensions } from './administration/suspensions.ts';
import type { Grants } from './grants.ts';
import type { Members } from './members.ts';

/** The records of members and of what they approved, with what changes them needs: members and operators act on the same. */
export interface Core {
  readonly grants: Grants;
  readonly members: Members;
  readonly suspensions: Suspensions;
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
}
