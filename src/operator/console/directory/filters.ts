import { GatewayError } from '../../../errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { filterLinks } from '../kit/filter-links.ts';
import type { Times } from '../kit/times.ts';
import { NOT_CONNECTED } from './not-connected.ts';

const POWERS = { '': 'All', change: 'Can change data', read: 'Only read' };
const UNUSED = {
  '': 'Any time',
  7: 'Not for 7 days',
  30: 'Not for 30 days',
  90: 'Not for 90 days',
  never: 'Never',
};
const DAY = 86_400;

/** What apps and grants are filtered by alike. Times are Unix seconds. */
export interface Use {
  /** Whether it has a scope for changes. */
  readonly changes: boolean;
  readonly lastUsedAt: number | undefined;
  /** What was never used counts as unused since then. */
  readonly grantedAt: number;
  /** Whether the app has fetched a token at all. */
  readonly redeemed: boolean;
}

type Query = Readonly<Record<string, string>>;

/** Links to filter by power and by use. */
export function useFilters(path: string, query: Query): Html {
  const { unused = '' } = query;
  const days = Object.hasOwn(UNUSED, unused) ? UNUSED : { ...UNUSED, [unused]: `Not for ${unused} days` };
  return html`${filterLinks({ label: 'Power', name: 'power', options: POWERS, path, query })}
${filterLinks({ label: 'Used', name: 'unused', options: days, path, query })}`;
}

/**
 * Whether the filters `power` (`change`, `read`) and `unused` (a number of days, `never`) keep something that is used
 * like this; what has no grant has no use. Throws GatewayError `invalid_request` for other values.
 *
 * @param now - Unix seconds
 */
export function usedLike({ power = '', unused = '' }: Query, now: number): (use: Use | undefined) => boolean {
  const days = unused === 'never' || unused === '' ? 0 : /^\d{1,4}$/.test(unused) ? Number(unused) : Number.NaN;
  if (!Object.hasOwn(POWERS, power) || Number.isNaN(days))
    throw new GatewayError('invalid_request', {
      message: '“power” is “change” or “read”, “unused” a number of days or “never”.',
    });
  if (power === '' && unused === '') return () => true;
  return (use) => {
    if (use === undefined) return false;
    const { changes, lastUsedAt, grantedAt } = use;
    if (power !== '' && changes !== (power === 'change')) return false;
    if (unused === 'never') return lastUsedAt === undefined;
    return unused === '' || (lastUsedAt ?? grantedAt) <= now - days * DAY;
  };
}

/** The cell of the last use, which is known to the day. */
export function lastUse(
  use: Pick<Use, 'lastUsedAt' | 'redeemed'> | undefined,
  times: Times,
): Html | string | undefined {
  if (use === undefined) return undefined;
  if (use.lastUsedAt !== undefined) return times.day(use.lastUsedAt * 1000);
  return use.redeemed ? 'never' : NOT_CONNECTED;
}
