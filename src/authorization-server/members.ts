import type { Member } from '../login/connector.ts';
import { type Entry, jsonEntry, readJson, type Store } from '../storage/store.ts';

const KIND = 'Member';

/**
 * What the login backend last said about each member who has granted access to an app, for claims and identity headers.
 * Every method throws GatewayError `store_unavailable`.
 */
export interface Members {
  save(member: Member): Promise<void>;
  find(sub: string): Promise<Member | undefined>;
}

export function storedMembers(store: Store): Members {
  return {
    async save(member) {
      await store.commit([{ op: 'put', entry: jsonEntry(KIND, member.sub, member, undefined) }]);
    },
    find: (sub) => readJson<Member>(store, KIND, sub),
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
