import type { Store } from '../../storage/store.ts';
import type { Grants } from '../grants.ts';
import { storedMember } from '../members.ts';
import { isoTime } from './grant-view.ts';
import { type Page, type PageWanted, pageOf } from './paging.ts';
import type { Suspensions } from './suspensions.ts';

export interface KnownMembers {
  /** `text` is a part of an id, name or email, case-insensitive. Throws GatewayError `store_unavailable`. */
  list(text: string | undefined, wanted: PageWanted): Promise<Page<object>>;
}

export interface KnownMembersOptions {
  readonly store: Store;
  readonly grants: Pick<Grants, 'count'>;
  readonly suspensions: Pick<Suspensions, 'since'>;
}

/** The members who have ever connected an app, or started to. */
export function knownMembers({ store, grants, suspensions }: KnownMembersOptions): KnownMembers {
  return {
    async list(text, wanted) {
      const part = text?.toLowerCase();
      const { found, next } = await pageOf(store, ['Member'], wanted, (entry) => {
        const member = storedMember(entry);
        const said = [member.sub, member.name, member.email].join('\n').toLowerCase();
        return part === undefined || said.includes(part) ? member : undefined;
      });
      const views = found.map(async ({ sub, name, email }) => {
        const [connections, since] = await Promise.all([grants.count({ member: sub }), suspensions.since(sub)]);
        return {
          id: sub,
          ...(name === undefined ? {} : { name }),
          ...(email === undefined ? {} : { email }),
          state: since === undefined ? 'active' : 'suspended',
          ...(since === undefined ? {} : { suspended_at: isoTime(since) }),
          connections,
        };
      });
      return { found: await Promise.all(views), next };
    },
  };
}
