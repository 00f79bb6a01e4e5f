import type { ConsoleSources } from '../sources.ts';
import { latest } from './app-grants.ts';
import type { Use } from './filters.ts';
import { eachInSlices } from './find.ts';
import type { AppRow, Rows } from './rows.ts';
import { changingText } from './scopes.ts';

/** What the grants of each app add up to: the strongest, the last used and the first. Apps without grants are missing. */
export async function appUses({ grants }: Rows, scopes: ConsoleSources['scopes']): Promise<ReadonlyMap<AppRow, Use>> {
  const changing = changingText(scopes);
  const uses = new Map<AppRow, { -readonly [Name in keyof Use]: Use[Name] }>();
  await eachInSlices(grants.values(), ({ app, scopes: text, lastUsedAt, grantedAt, redeemed }) => {
    // What was never fetched gives no access.
    const changes = redeemed && changing(text);
    const use = uses.get(app);
    if (use === undefined) {
      uses.set(app, { changes, lastUsedAt, grantedAt, redeemed });
      return;
    }
    use.changes ||= changes;
    use.redeemed ||= redeemed;
    use.grantedAt = Math.min(use.grantedAt, grantedAt);
    use.lastUsedAt = latest(use.lastUsedAt, lastUsedAt);
  });
  return uses;
}
