import type { GrantUse } from '../../../authorization-server/connected-apps/usage.ts';
import type { ConsoleSources, Sources } from '../sources.ts';
import type { Use } from './filters.ts';
import { eachInSlices } from './find.ts';
import type { AppRow, GrantRow, MemberRow, Rows } from './rows.ts';
import { changingText } from './scopes.ts';

/** What some grants add up to: the strongest, the last used and the first. */
export interface Held extends Use {
  /** The scopes of each, space-separated. */
  readonly scopes: ReadonlySet<string>;
  /** Who allows it. What was never fetched gives no access. */
  readonly members: ReadonlySet<MemberRow>;
}

/** Of all members, by app. Apps without grants are missing. */
export function appUses(rows: Rows, scopes: ConsoleSources['scopes']): Promise<ReadonlyMap<AppRow, Held>> {
  return heldBy(rows, scopes, ({ app }) => app);
}

/** Of one app, by member, without grants whose token the app never fetched. */
export function appGrants(
  rows: Rows,
  scopes: ConsoleSources['scopes'],
  id: string,
): Promise<ReadonlyMap<MemberRow, Held>> {
  return heldBy(rows, scopes, ({ app, member, redeemed }) => (app.id === id && redeemed ? member : undefined));
}

async function heldBy<Key>(
  { grants }: Rows,
  scopes: ConsoleSources['scopes'],
  keyOf: (grant: GrantRow) => Key | undefined,
): Promise<ReadonlyMap<Key, Held>> {
  const changing = changingText(scopes);
  const sums = new Map<Key, ReturnType<typeof nothingHeld>>();
  await eachInSlices(grants.values(), (grant) => {
    const key = keyOf(grant);
    if (key === undefined) return;
    const sum = sums.get(key) ?? nothingHeld();
    sums.set(key, sum);
    sum.scopes.add(grant.scopes);
    sum.grantedAt = Math.min(sum.grantedAt, grant.grantedAt);
    sum.lastUsedAt = latest(sum.lastUsedAt, grant.lastUsedAt);
    if (!grant.redeemed) return;
    sum.redeemed = true;
    sum.changes ||= changing(grant.scopes);
    sum.members.add(grant.member);
  });
  return sums;
}

function nothingHeld() {
  const [scopes, members] = [new Set<string>(), new Set<MemberRow>()];
  const lastUsedAt = undefined as number | undefined;
  return { scopes, members, changes: false, redeemed: false, grantedAt: Number.POSITIVE_INFINITY, lastUsedAt };
}

export function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** What the grants of an app to these members were used for, without those that were not. */
export async function appUsage(
  { usage }: Sources<'usage'>,
  { grants }: Rows,
  id: string,
  members: readonly MemberRow[],
): Promise<readonly GrantUse[]> {
  const uses = await Promise.all(members.map((member) => usage.of(member.id)));
  return uses.flatMap((byGrant) =>
    [...byGrant].flatMap(([grant, use]) => (grants.get(grant)?.app.id === id ? use : [])),
  );
}
