import { detailsOf } from '../../oauth/member-details.ts';
import type { Store } from '../../storage/store.ts';
import type { Grants } from '../grants.ts';
import { storedMember } from '../members.ts';
import { isoTime } from './grant-view.ts';
import { type PageWanted, pageOf } from './paging.ts';
import type { Suspensions } from './suspensions.ts';

export interface ListMembersOptions {
  readonly store: Store;
  readonly grants: Pick<Grants, 'count'>;
  readonly suspensions: Pick<Suspensions, 'since'>;
}

/**
 * A page of the members who have ever connected an app, or started to. `text` is a part of an id, name or email,
 * case-insensitive. Throws GatewayError `store_unavailable`.
 */
export async function listMembers(
  { store, grants, suspensions }: ListMembersOptions,
  text: string | undefined,
  wanted: PageWanted,
) {
  const part = text?.toLowerCase();
  const { found, next } = await pageOf(store, ['Member'], wanted, (entry) => {
    const member = storedMember(entry);
    const said = [member.sub, ...Object.values(detailsOf(member))].join('\n').toLowerCase();
    return part === undefined || said.includes(part) ? member : undefined;
  });
  const members = found.map(async (member) => {
    const { sub } = member;
    const [connections, since] = await Promise.all([grants.count({ member: sub }), suspensions.since(sub)]);
    const state = since === undefined ? 'active' : 'suspended';
    return { id: sub, ...detailsOf(member), state, suspended_at: isoTime(since), connections };
  });
  return { members: await Promise.all(members), next };
}
