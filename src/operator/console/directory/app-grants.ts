import type { GrantUse } from '../../../authorization-server/connected-apps/usage.ts';
import type { Sources } from '../sources.ts';
import { eachInSlices } from './find.ts';
import type { MemberRow, Rows } from './rows.ts';

/** What one member has allowed an app, over all grants. Times are Unix seconds. */
export interface HeldBy {
  /** Space-separated; some may be there twice. */
  readonly scopes: string;
  readonly grantedAt: number;
  readonly lastUsedAt: number | undefined;
}

/** By member, from the rows in memory, without grants whose token the app never fetched. */
export async function appGrants({ grants }: Rows, id: string): Promise<ReadonlyMap<MemberRow, HeldBy>> {
  const members = new Map<MemberRow, HeldBy>();
  await eachInSlices(grants.values(), ({ app, member, scopes, grantedAt, lastUsedAt, redeemed }) => {
    if (app.id !== id || !redeemed) return;
    const held = members.get(member);
    members.set(member, {
      scopes: held === undefined || held.scopes === scopes ? scopes : `${held.scopes} ${scopes}`,
      grantedAt: Math.min(held?.grantedAt ?? grantedAt, grantedAt),
      lastUsedAt: latest(held?.lastUsedAt, lastUsedAt),
    });
  });
  return members;
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

export function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}
