import type { ActionContext } from '../../../actions/action.ts';
import { GatewayError } from '../../../errors.ts';
import { unixSeconds } from '../../../storage/store.ts';
import { appGrants } from '../directory/app-use.ts';
import { appName, memberName } from '../directory/party.ts';
import type { Sources } from '../sources.ts';

/** Seconds. */
const ACTIVE = 7 * 86_400;

/** What questions are made from. */
export type Asking = Sources<'clock' | 'controls' | 'directory' | 'grants' | 'scopes' | 'store'>;

type Context = (sources: Asking, id: string, client: string | undefined) => Promise<ActionContext>;

/** The names and counts in the texts of actions, by the first part of their paths. */
const CONTEXTS: Readonly<Record<string, Context>> = {
  async members({ store }, id, client) {
    const [name, app] = await Promise.all([memberName(store, id), client && appName(store, client)]);
    return { name, app };
  },
  async apps(sources, id) {
    const [name, grants, view] = await Promise.all([
      appName(sources.store, id),
      sources.grants.count({ client: id }),
      sources.directory.look(),
    ]);
    if (view.state !== 'ready' || view.rows.partial) return { name, grants };
    const members = [...(await appGrants(view.rows, sources.scopes, id)).values()];
    const since = unixSeconds(sources.clock) - ACTIVE;
    const active = members.filter(({ lastUsedAt = 0 }) => lastUsedAt >= since).length;
    return { name, grants, members: { all: members.length, active } };
  },
  async grants({ grants, store }, id) {
    const grant = await grants.find(id);
    if (grant === undefined) return { name: id };
    const [member, app] = await Promise.all([memberName(store, grant.member), appName(store, grant.clientId)]);
    return { name: id, app, member };
  },
  async keys({ controls: { keys } }, id) {
    const key = (await keys.list()).keys.find(({ kid }) => kid === id);
    if (id !== '' && key === undefined)
      throw new GatewayError('not_found', { message: 'No published key has this ID.' });
    return { name: id, keyState: key?.state, unknownFor: keys.unknownFor() };
  },
};

/** What the texts of the action at this path name. Throws GatewayError `not_found` for a key that is not published. */
export async function contextOf(
  sources: Asking,
  path: string,
  { id = '', client }: Readonly<Record<string, string>>,
): Promise<ActionContext> {
  const [, first = ''] = path.split('/');
  return (await CONTEXTS[first]?.(sources, id, client)) ?? { name: id };
}
