import type { ActionContext } from '../../../actions/action.ts';
import { GatewayError } from '../../../errors.ts';
import type { ConsoleRequest, Section } from '../console-route.ts';
import type { DirectoryDeps } from '../directory/deps.ts';
import { appName, memberName } from '../directory/names.ts';

/** Finds the names and counts in the texts of an action. Throws GatewayError `not_found` for a key that is not published. */
export async function contextOf(
  deps: DirectoryDeps,
  section: Section,
  { id = '', client }: ConsoleRequest['params'],
): Promise<ActionContext> {
  const { controls, grants } = deps;
  if (section === 'members') {
    const [name = id, app] = await Promise.all([memberName(deps, id), client && appName(deps, client)]);
    return { name, app };
  }
  if (section === 'apps' && id !== '') {
    const [name, count] = await Promise.all([appName(deps, id), grants.count({ client: id })]);
    return { name, grants: count };
  }
  const grant = section === 'grants' ? await grants.find(id) : undefined;
  if (grant !== undefined) {
    const [member, app] = await Promise.all([memberName(deps, grant.member), appName(deps, grant.clientId)]);
    return { name: id, app, member: member ?? grant.member };
  }
  if (section !== 'keys') return { name: id };
  const key = (await controls.keys.list()).keys.find(({ kid }) => kid === id);
  if (id !== '' && key === undefined) throw new GatewayError('not_found', { message: 'No published key has this ID.' });
  return { name: id, keyState: key?.state, unknownFor: controls.keys.unknownFor() };
}
