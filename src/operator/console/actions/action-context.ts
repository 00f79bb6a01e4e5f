import type { ActionContext, OperatorAction } from '../../../actions/action.ts';
import { GatewayError } from '../../../errors.ts';
import type { ConsoleRequest } from '../console-route.ts';
import type { DirectoryDeps } from '../directory/deps.ts';
import { appName, memberName } from '../directory/names.ts';

/** Finds the names and counts in the texts of an action. Throws GatewayError `not_found` for a key that is not published. */
export async function contextOf(
  deps: DirectoryDeps,
  { id: words }: Pick<OperatorAction, 'id'>,
  { id = '', client }: ConsoleRequest['params'],
): Promise<ActionContext> {
  const { keys } = deps.controls;
  switch (words.split('.')[0]) {
    case 'members': {
      const [name, app] = await Promise.all([memberName(deps, id), client && appName(deps, client)]);
      return { name: name ?? id, app };
    }
    case 'clients':
      if (id === '') break;
      return { name: await appName(deps, id), grants: await deps.grants.count({ client: id }) };
    case 'grants': {
      const grant = await deps.grants.find(id);
      if (grant === undefined) break;
      const [member, app] = await Promise.all([memberName(deps, grant.member), appName(deps, grant.clientId)]);
      return { name: id, app, member: member ?? grant.member };
    }
    case 'keys': {
      if (id === '') return { name: id, unknownFor: keys.unknownFor() };
      const key = (await keys.list()).keys.find(({ kid }) => kid === id);
      if (key === undefined) throw new GatewayError('not_found', { message: 'No published key has this id.' });
      return { name: id, keyState: key.state };
    }
  }
  return { name: id };
}
