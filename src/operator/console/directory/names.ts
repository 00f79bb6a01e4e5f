import { findApp } from '../../../authorization-server/administration/stored-app.ts';
import { accountOf, storedMembers } from '../../../authorization-server/members.ts';
import type { Sources } from '../sources.ts';

/** The name of a member, from the store. */
export async function memberName({ store }: Sources<'store'>, id: string): Promise<string | undefined> {
  const member = await storedMembers(store).find(id);
  return member === undefined ? undefined : (member.name ?? accountOf(member));
}

/** The name that an app has given itself, or its id. */
export async function appName({ store }: Sources<'store'>, id: string): Promise<string> {
  return (await findApp(store, id))?.name ?? id;
}
