import { invalidRequest } from '../../../errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { filterLinks } from '../kit/filters.ts';

const POWERS = [
  ['', 'All'],
  ['change', 'Can change data'],
  ['read', 'Only reads'],
] as const;
const UNUSED = [
  ['', 'Any time'],
  ['7', '7+ days ago'],
  ['30', '30+ days ago'],
  ['90', '90+ days ago'],
  ['never', 'Never'],
] as const;
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
  const listed = UNUSED.some(([value]) => value === unused);
  const options = listed ? UNUSED : [...UNUSED, [unused, `${unused}+ days ago`] as const];
  return html`${filterLinks({ label: 'Access', name: 'power', options: POWERS, path, query })}${filterLinks({ label: 'Last used', name: 'unused', options, path, query })}`;
}

/**
 * Whether the filters `power` (`change`, `read`) and `unused` (a number of days, `never`) keep something that is used
 * like this; what has no grant has no use. Throws GatewayError `invalid_request` for other values.
 *
 * @param now - Unix seconds
 */
export function usedLike({ power = '', unused = '' }: Query, now: number): (use: Use | undefined) => boolean {
  const days = unused === 'never' || unused === '' ? 0 : /^\d{1,4}$/.test(unused) ? Number(unused) : Number.NaN;
  if (!POWERS.some(([value]) => value === power) || Number.isNaN(days))
    throw invalidRequest('“power” is “change” or “read”, “unused” a number of days or “never”.');
  if (power === '' && unused === '') return () => true;
  return (use) => {
    if (use === undefined) return false;
    const { changes, lastUsedAt, grantedAt } = use;
    if (power !== '' && changes !== (power === 'change')) return false;
    if (unused === 'never') return lastUsedAt === undefined;
    return unused === '' || (lastUsedAt ?? grantedAt) <= now - days * DAY;
  };
}
