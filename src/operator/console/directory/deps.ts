import type { Controls } from '../../../actions/controls.ts';
import type { Usage } from '../../../authorization-server/connected-apps/usage.ts';
import type { Grants } from '../../../authorization-server/grants.ts';
import type { ScopeConfig } from '../../../config/schema.ts';
import type { Trail } from '../../../operations/record/trail.ts';
import type { Clock, Store } from '../../../storage/store.ts';
import type { Times } from '../times.ts';
import type { Directory } from './directory.ts';

/** What the pages about apps, members and grants are made from. */
export interface DirectoryDeps {
  readonly controls: Controls;
  readonly grants: Pick<Grants, 'find' | 'list' | 'count'>;
  readonly usage: Pick<Usage, 'of'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly trail: Pick<Trail, 'of'>;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  /** The titles of tools, by name. */
  readonly tools: ReadonlyMap<string, string>;
  /** The name of the course site. */
  readonly school: string;
  readonly times: Times;
  /** Whether new apps can become known at all, by the configuration. */
  readonly takesNewApps: boolean;
  /** Receives the failure of an action that took longer than its page. */
  readonly onError: (error: unknown) => void;
}
