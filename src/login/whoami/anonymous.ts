import { compilePattern } from '../../config/pattern.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import type { ValueAt } from './answer.ts';
import type { WhoamiConfig } from './settings.ts';
import { unusable } from './unusable.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Recognises answers that say that no member is signed in. */
export function anonymousRules({ anonymous, subject }: Pick<WhoamiConfig, 'anonymous' | 'subject'>) {
  const { statuses, redirects, values, absent } = anonymous;
  const location = typeof redirects === 'string' ? compilePattern(redirects) : undefined;
  const body = anonymous.body === undefined ? undefined : compilePattern(anonymous.body);

  return {
    /**
     * Checks status and Location only. Returns true if no member is signed in, false for a 200, where the rest of the
     * answer decides. Throws GatewayError `login_unavailable` for any other status.
     */
    byHead({ status, headers }: UpstreamResponse): boolean {
      if (statuses.includes(status)) return true;
      if (
        REDIRECTS.has(status) &&
        (location === undefined ? redirects === true : location.matches(headers.location ?? ''))
      )
        return true;
      if (status !== 200) throw unusable(`${status}`);
      return false;
    },
    byBody: (answer: UpstreamResponse): boolean => body?.matches(answer.body) ?? false,
    byValue(valueAt: ValueAt): boolean {
      const value = valueAt(anonymous.at ?? subject);
      if (value === undefined) return absent;
      return values.some(
        (listed) => listed === value || (listed !== null && typeof value === 'string' && String(listed) === value),
      );
    },
  };
}
