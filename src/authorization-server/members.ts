import type { Member } from '../login/connector.ts';
import type { Entry, Store } from '../storage/store.ts';

const KIND = 'Member';

/**
 * What the login backend last said about each member who has granted access to an app, for claims and identity headers.
 */
export interface Members {
  save(member: Member): Promise<void>;
  find(sub: string): Promise<Member | undefined>;
}

export function storedMembers(store: Store): Members {
  return {
    async save(member) {
      const entry = {
        kind: KIND,
        id: member.sub,
        payload: JSON.stringify(member),
        expiresAt: undefined,
        references: {},
      };
      await store.commit([{ op: 'put', entry }]);
    },
    async find(sub) {
      const entry = await store.get(KIND, sub);
      return entry === undefined ? undefined : storedMember(entry);
    },
  };
}

/** Parses what `save` wrote. */
export function storedMember({ payload }: Pick<Entry, 'payload'>): Member {
  return JSON.parse(payload) as Member;
}

/** The text by which members recognise their account. */
export function accountOf(member: Member): string {
  return member.email ?? member.name ?? member.sub;
}
