import { MEMBER_ID, type MemberQuestionConfig, type RecheckConfig } from '../config/recheck.ts';
import { encodedComponent } from '../http/percent.ts';
import type { CallUpstream, UpstreamResponse } from '../upstream/request.ts';
import type { Recheck } from './connector.ts';
import { answerReader } from './whoami/answer.ts';
import { readFlag, readVersion } from './whoami/member.ts';
import { askBackend, unusable } from './whoami/unusable.ts';

/** Creates the recheck that is configured, for any kind of login. `key` is the secret that `config.key` refers to. */
export function createRecheck(config: RecheckConfig, key: string | undefined, call: CallUpstream): Recheck {
  const { format, active, version, gone } = config;
  const ask = createMemberQuestion(config, key, call, format === 'json' ? 'application/json' : '*/*');
  const reader = answerReader(format, [active, version]);

  return async (sub) => {
    const answer = await ask(sub);
    if (gone.includes(answer.status)) return { kind: 'gone' };
    if (answer.status !== 200) throw unusable(`${answer.status}`);
    const valueAt = reader(answer);
    if (active !== undefined && !isActive(valueAt(active))) return { kind: 'inactive' };
    return { kind: 'good', version: version === undefined ? undefined : readVersion(valueAt(version)) };
  };
}

/** Throws GatewayError `login_unavailable` if the value says neither. */
export function isActive(value: unknown): boolean {
  const active = readFlag(value);
  if (active === undefined) throw unusable('neither true nor false for whether a member is active');
  return active;
}

/**
 * Asks the backend about a member in their absence, without a cookie. Rejects with GatewayError `login_unavailable` if
 * there is no response.
 * @param key the secret that `config.key` refers to
 */
export function createMemberQuestion(
  config: MemberQuestionConfig,
  key: string | undefined,
  call: CallUpstream,
  accept = 'application/json',
): (sub: string) => Promise<UpstreamResponse> {
  const ask = askBackend(call);
  const field =
    config.key === undefined || key === undefined
      ? {}
      : { [config.key.header]: config.key.scheme === undefined ? key : `${config.key.scheme} ${key}` };

  return async (sub) =>
    ask({
      upstream: config.upstream,
      method: 'GET',
      path: config.path.replaceAll(MEMBER_ID, () => inPath(sub)),
      headers: { accept, ...field },
      signal: AbortSignal.timeout(config.timeout * 1000),
    });
}

/** Encodes an id as one path segment or query value. Throws if the id could address another path. */
function inPath(sub: string): string {
  if (!sub.isWellFormed() || /^\.{1,2}$|[/\\]/.test(sub)) throw unusable('for an id that cannot be used in a path');
  return encodedComponent(sub);
}
