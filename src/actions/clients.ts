import { counted } from '../http/amounts.ts';
import { type ActionContext, action, type Lookup } from './action.ts';
import { type ActionSubject, isUnknown } from './subject.ts';

export const CLIENT: ActionSubject = {
  path: '/clients/:id',
  list: 'clients list',
  grants: (id) => ({ client: id }),
  describe: ({ account }, id) => account.describeClient(id),
  unknown: (ids) => `No app has the id ${ids.join(', ')}.`,
};

const COMMAND = {
  examples: ['--config coursegate.yaml CLIENT_ID --reason "as agreed"'],
  argument: ['<client>', 'the client_id of the app'],
} as const;

export const CLIENT_LOOKUPS: readonly Lookup[] = [
  {
    path: '/clients',
    query: ['name', 'host', 'kind', 'cursor', 'limit'],
    run: ({ account }, { query }) => account.listClients(query),
  },
  { path: CLIENT.path, query: [], run: (controls, { id }) => CLIENT.describe(controls, id) },
];

export const CLIENT_ACTIONS = {
  revoke: action({
    path: '/clients/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeClient(id, decision),
    audit: ['client_revoked', 'App disconnected from all members'],
    subject: CLIENT,
    applies: (client) => !isUnknown(client),
    ask: (context) => ({
      title: `Require consent again for ${context.name}?`,
      text: `All members are disconnected from it at once, and it has to ask each of them again. ${grantsNow(context)}`,
    }),
    done: ({ ended }) => `Members will be asked again. ${counted(ended, 'grant')} ended.`,
    command: { ...COMMAND, description: 'end every connection of an app; it may ask members again' },
    page: { path: '/apps/:id/revoke', back: '/apps/:id', button: 'Require consent again' },
  }),
  disable: action({
    path: '/clients/:id/disable',
    run: ({ account }, { id, decision }) => account.disableClient(id, decision),
    audit: ['client_disabled', 'App disabled'],
    subject: CLIENT,
    applies: ({ state }) => state === 'enabled',
    ask: (context) => ({
      title: `Disable ${context.name}?`,
      text: `All members are disconnected from it, and it is refused until it is enabled again. ${grantsNow(context)}`,
    }),
    done: ({ ended }) => `Disabled. ${counted(ended, 'grant')} ended.`,
    command: { ...COMMAND, description: 'end every connection of an app, and refuse it until it is enabled again' },
    page: { path: '/apps/:id/disable', back: '/apps/:id', button: 'Disable', first: true },
  }),
  enable: action({
    path: '/clients/:id/enable',
    run: ({ account }, { id, decision }) => account.enableClient(id, decision),
    audit: ['client_enabled', 'App enabled'],
    subject: CLIENT,
    // An app that was deleted while it was disabled is refused when it comes back.
    anyway: 'Allow it should it come back?',
    applies: ({ state }) => state === 'disabled',
    done: () => 'Enabled. Members can connect it again.',
    command: { ...COMMAND, description: 'allow a disabled app again' },
    page: { path: '/apps/:id/enable', back: '/apps/:id', button: 'Enable', first: true },
  }),
  delete: action({
    path: '/clients/:id/delete',
    run: ({ account }, { id, decision }) => account.deleteClient(id, decision),
    audit: ['client_deleted', 'App deleted'],
    subject: CLIENT,
    applies: ({ known }) => known !== false,
    ask: (context) => ({
      title: `Delete ${context.name}?`,
      text: `Its registration and all its grants are deleted. It can register again, or present its metadata document again: to keep it out, disable it. ${grantsNow(context)}`,
    }),
    done: ({ ended }) => `Deleted. ${counted(ended, 'grant')} ended.`,
    command: { ...COMMAND, description: 'end every connection of an app, and delete it; it may register again' },
    page: { path: '/apps/:id/delete', back: '/apps', button: 'Delete' },
  }),
  revokeAll: action({
    run: ({ account }, { decision }) => account.revokeClients(decision),
    touches: () => 'everything',
    ask: () => ({
      title: 'Require consent again for all apps?',
      text: 'Every app of every member is disconnected at once, and each app has to ask its members again. With many grants this takes some minutes.',
    }),
    done: ({ ended }) => `Every app has to ask its members again. ${counted(ended, 'grant')} ended.`,
    page: { path: '/consent', back: '/apps', button: 'Disconnect every app' },
  }),
};

/** Who is hit. */
function grantsNow({ grants = 0, members }: ActionContext): string {
  if (members === undefined || members.all === 0) return `It has ${counted(grants, 'grant')} now.`;
  return `${counted(members.all, 'member')} will lose access; ${members.active} used it in the last 7 days.`;
}
