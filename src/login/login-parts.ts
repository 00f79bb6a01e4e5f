import type { Share } from '../config/carried-over.ts';
import type { ClaimsConfig } from '../config/claims.ts';
import type { Config } from '../config/schema.ts';
import type { Log } from '../operations/log.ts';
import type { Clock } from '../storage/store.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { DirectoryMember } from './directory/settings-members.ts';

/** What a way to sign in is opened with. */
export interface LoginParts {
  readonly origin: string;
  /** Where members come back to: `origin`, or that of `pages.origin`. */
  readonly pagesOrigin: string;
  readonly call: CallUpstream;
  readonly clock: Clock;
  readonly upstreams: Config['upstreams'];
  /** The secrets of `login`, keyed by path: `login.secret`. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The members of a `directory` login when the configuration was loaded. */
  readonly members: readonly DirectoryMember[] | undefined;
  /** Claims to read from what the login says about a member. */
  readonly claims: ClaimsConfig;
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** Shares the hashing queue with the previous configuration, so that the limit on concurrent hashes still holds. */
  readonly share: Share;
}
