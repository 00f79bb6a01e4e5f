import type { Config } from '../config/schema.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { Login, Recheck } from './connector.ts';
import { createRecheck } from './recheck.ts';

/** How the gate finds out, in the member's absence, whether they still exist. */
export interface MemberCheck {
  readonly ask: Recheck;
  /** Seconds for which a response is reused. */
  readonly interval: number;
  /** Whether a refresh succeeds when the backend cannot say. */
  readonly allowUnavailable: boolean;
}

/**
 * Chooses how members are rechecked: by the login itself if it can, without caching, otherwise by the configured
 * backend. Undefined if neither is possible. `key` is the secret that `recheck.key` refers to.
 */
export function memberCheck(
  config: Config['login'],
  login: Login,
  key: string | undefined,
  call: CallUpstream,
): MemberCheck | undefined {
  if (login.shape === 'credentials' && login.recheck !== undefined)
    return { ask: login.recheck, interval: 0, allowUnavailable: false };
  const recheck = 'recheck' in config ? config.recheck : undefined;
  return (
    recheck && {
      ask: createRecheck(recheck, key, call),
      interval: recheck.interval,
      allowUnavailable: recheck.unavailable === 'allow',
    }
  );
}
