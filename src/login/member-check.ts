import type { Config } from '../config/schema.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { Login } from './connector.ts';
import { createRecheck, type Recheck } from './recheck.ts';

/** How it is found out, without the member, whether they still are one. */
export interface MemberCheck {
  readonly ask: Recheck;
  /** Seconds an answer is good for. */
  readonly interval: number;
  /** Whether a refresh goes on when the backend cannot say. */
  readonly allowUnavailable: boolean;
}

/**
 * In: the configuration, the login made of it, and the key that `recheck.key` names. Out: whom to ask: the login itself
 * where it knows, each time anew; else the backend as configured; undefined when nobody can say.
 */
export function memberCheck(
  config: Config['login'],
  login: Login,
  key: string | undefined,
  call: CallUpstream,
): MemberCheck | undefined {
  if (login.shape === 'credentials' && login.recheck !== undefined) {
    return { ask: login.recheck, interval: 0, allowUnavailable: false };
  }
  const recheck = 'recheck' in config ? config.recheck : undefined;
  return (
    recheck && {
      ask: createRecheck(recheck, key, call),
      interval: recheck.interval,
      allowUnavailable: recheck.unavailable === 'allow',
    }
  );
}
