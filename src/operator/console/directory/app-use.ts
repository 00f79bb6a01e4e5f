import type { GrantUse } from '../../../authorization-server/connected-apps/usage.ts';
import type { ConsoleSources, Sources } from '../sources.ts';
import type { Use } from './filters.ts';
import { eachInSlices } from './find.ts';
import type { AppRow, GrantRow, MemberRow, Rows } from './rows.ts';
import { changingText } from './scopes.ts';

/** What some grants add up to: the strongest, the last used and the first. */
export interface Held extends Use {
  /** The scopes of each, separated by white space. */
  readonly scopes: string;
}

/** Of all members, by app. Apps without grants are missing. */
export function appUses(rows: Rows, scopes: ConsoleSources['scopes']): Promise<ReadonlyMap<AppRow, Held>> {
  return heldBy(rows, scopes, ({ app }) => app);
}

/** Who has connected each app. Apps whose token nobody fetched are missing. */
export async function appMembers({ grants }: Rows): Promise<ReadonlyMap<AppRow, ReadonlySet<MemberRow>>> {
  const members = new Map<AppRow, Set<MemberRow>>();
  await eachInSlices(grants.values(), ({ app, member, redeemed }) => {
    if (redeemed) members.set(app, (members.get(app) ?? new Set()).add(member));
  });
  return members;
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
  const sums = new Map<Key, Held>();
  await eachInSlices(grants.values(), (grant) => {
    const key = keyOf(grant);
    if (key === undefined) return;
    const { scopes: text, grantedAt, lastUsedAt, redeemed } = grant;
    // What was never fetched gives no access.
    const changes = redeemed && changing(text);
    sums.set(key, together(sums.get(key), { scopes: text, changes, grantedAt, lastUsedAt, redeemed }));
  });
  return sums;
}

export function together(a: Held | undefined, b: Held): Held {
  if (a === undefined) return b;
  const isKnown = a.scopes === b.scopes || `\n${a.scopes}\n`.includes(`\n${b.scopes}\n`);
  return {
    scopes: isKnown ? a.scopes : `${a.scopes}\n${b.scopes}`,
    changes: a.changes || b.changes,
    grantedAt: Math.min(a.grantedAt, b.grantedAt),
    lastUsedAt: latest(a.lastUsedAt, b.lastUsedAt),
    redeemed: a.redeemed || b.redeemed,
  };
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
