import { MEMBER_ID, type RecheckConfig } from '../config/recheck.ts';
import { GatewayError } from '../errors.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { answerReader } from './whoami/answer.ts';
import { readVersion } from './whoami/member.ts';
import { unusable } from './whoami/unusable.ts';

/** What the backend says of a member who is not there to show a cookie. */
export type Standing =
  | { readonly kind: 'good' /** As in Member. */; readonly version: string | undefined }
  /** There is no such member any more. */
  | { readonly kind: 'gone' }
  /** There is, and they may not use the service. */
  | { readonly kind: 'inactive' };

/**
 * Asks the backend, server to server, whether a member is still one. In: their id. Throws GatewayError
 * `login_unavailable` when it cannot say: that is never "gone".
 */
export type Recheck = (sub: string) => Promise<Standing>;

/** In: the configuration, and the key that its `key` names. Works whatever kind of login the members have. */
export function createRecheck(config: RecheckConfig, key: string | undefined, call: CallUpstream): Recheck {
  const { format, active, version, gone } = config;
  const reader = answerReader(format, [active, version]);
  const field =
    config.key === undefined || key === undefined
      ? {}
      : { [config.key.header]: config.key.scheme === undefined ? key : `${config.key.scheme} ${key}` };

  return async (sub) => {
    const answer = await call({
      upstream: config.upstream,
      method: 'GET',
      path: config.path.replaceAll(MEMBER_ID, () => inPath(sub)),
      headers: { accept: format === 'json' ? 'application/json' : '*/*', ...field },
      signal: AbortSignal.timeout(config.timeout * 1000),
    }).catch((thrown: unknown) => {
      throw new GatewayError('login_unavailable', { cause: thrown });
    });
    if (gone.includes(answer.status)) return { kind: 'gone' };
    if (answer.status !== 200) throw unusable(`${answer.status}`);
    const valueAt = reader(answer);
    if (active !== undefined && !readFlag(valueAt(active))) return { kind: 'inactive' };
    return { kind: 'good', version: version === undefined ? undefined : readVersion(valueAt(version)) };
  };
}

/** An id as one segment of a path, or one value of a query. Throws when it would be another place than the member's. */
function inPath(sub: string): string {
  if (!sub.isWellFormed() || /^\.{1,2}$|[/\\]/.test(sub)) throw unusable('for an id that no path can hold');
  return encodeURIComponent(sub).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function readFlag(value: unknown): boolean {
  if (value === true || value === 1 || value === '1' || value === 'true') return true;
  if (value === false || value === 0 || value === '0' || value === 'false') return false;
  throw unusable('neither true nor false on whether a member is active');
}
