import { type Html, html } from '../../../http/html.ts';
import type { ConsoleRequest } from '../console-route.ts';
import { counted } from '../counted.ts';
import type { DirectoryDeps } from './deps.ts';
import { appName, memberName } from './names.ts';
import { pathOf, pathOfApp, pathOfGrant, pathOfMember } from './paths.ts';
import { appRow, forgetGrants, memberRow, type Rows } from './rows.ts';

export type Params = ConsoleRequest['params'];

/** An action of the commands (account-control.ts), with the page that asks before it. */
export interface OperatorAction {
  /** Below /console. */
  readonly path: string;
  readonly section: 'members' | 'apps' | 'grants';
  readonly button: string;
  /** Undefined for what takes no access away: it is done without asking. */
  readonly ask?: (deps: DirectoryDeps, params: Params) => Promise<{ readonly title: string; readonly text: Html }>;
  /** The member it is about, who is asked for again if unknown. */
  readonly member?: (params: Params) => string;
  /** Resolves with what was done. */
  readonly run: (deps: DirectoryDeps, request: ConsoleRequest) => Promise<string>;
  /** What has changed in the rows that are searched. */
  readonly correct: (rows: Rows, params: Params) => void;
  /** The page that it was begun on. */
  readonly back: (params: Params) => string;
}

const MEMBER_ACTIONS: readonly OperatorAction[] = [
  {
    path: '/members/:id/suspend',
    section: 'members',
    button: 'Suspend',
    member: ({ id = '' }) => id,
    ask: async (deps, { id = '' }) => ({
      title: `Suspend ${(await memberName(deps, id)) ?? id}?`,
      text: html`<p>All apps of this member are disconnected, and the member cannot connect apps until resumed. The account at <bdi>${deps.school}</bdi> stays as it is.</p>`,
    }),
    run: async ({ account }, { params: { id = '' }, decision }) => {
      const { ended } = await account.suspendMember(id, decision);
      return `Suspended. ${counted(ended, 'grant')} ended.`;
    },
    correct(rows, { id = '' }) {
      forgetGrants(rows, ({ member }) => member.id === id);
      memberRow(rows, id).suspended = true;
    },
    back: ({ id = '' }) => pathOfMember(id),
  },
  {
    path: '/members/:id/resume',
    section: 'members',
    button: 'Resume',
    run: async ({ account }, { params: { id = '' }, decision }) => {
      await account.resumeMember(id, decision);
      return 'Resumed. The member can connect apps again.';
    },
    correct(rows, { id = '' }) {
      memberRow(rows, id).suspended = false;
    },
    back: ({ id = '' }) => pathOfMember(id),
  },
  {
    path: '/members/:id/revoke',
    section: 'members',
    button: 'Disconnect all apps',
    member: ({ id = '' }) => id,
    ask: async (deps, { id = '' }) => ({
      title: `Disconnect all apps of ${(await memberName(deps, id)) ?? id}?`,
      text: html`<p>Every app of this member loses access at once. The member can connect apps again.</p>`,
    }),
    run: async ({ account }, { params: { id = '' }, decision }) => {
      const { ended } = await account.revokeMember(id, decision);
      return `Disconnected. ${counted(ended, 'grant')} ended.`;
    },
    correct: (rows, { id }) => forgetGrants(rows, ({ member }) => member.id === id),
    back: ({ id = '' }) => pathOfMember(id),
  },
  {
    path: '/members/:id/apps/:client',
    section: 'members',
    button: 'Disconnect',
    ask: async (deps, { id = '', client = '' }) => {
      const [who, app] = await Promise.all([memberName(deps, id), appName(deps, client)]);
      return {
        title: `Disconnect ${app} from ${who ?? id}?`,
        text: html`<p><bdi>${app}</bdi> loses access to the account of <bdi>${who ?? id}</bdi> at once. It can ask the member again.</p>`,
      };
    },
    run: async (deps, { params: { id = '', client = '' }, decision }) => {
      const { ended } = await deps.account.revokeApp(id, client, decision);
      const app = await appName(deps, client);
      return ended === 0 ? `${app} was not connected any more.` : `${app} is disconnected.`;
    },
    correct: (rows, { id, client }) => forgetGrants(rows, ({ member, app }) => member.id === id && app.id === client),
    back: ({ id = '' }) => pathOfMember(id),
  },
];

const APP_ACTIONS: readonly OperatorAction[] = [
  {
    path: '/apps/:id/disable',
    section: 'apps',
    button: 'Disable',
    ask: async (deps, { id = '' }) => ({
      title: `Disable ${await appName(deps, id)}?`,
      text: html`<p>All members are disconnected from it, and it is refused until it is enabled again. ${await connected(deps, id)}</p>`,
    }),
    run: async ({ account }, { params: { id = '' }, decision }) => {
      const { ended } = await account.disableClient(id, decision);
      return `Disabled. ${counted(ended, 'grant')} ended.`;
    },
    correct(rows, { id = '' }) {
      forgetGrants(rows, ({ app }) => app.id === id);
      appRow(rows, id).disabled = true;
    },
    back: ({ id = '' }) => pathOfApp(id),
  },
  {
    path: '/apps/:id/enable',
    section: 'apps',
    button: 'Enable',
    run: async ({ account }, { params: { id = '' }, decision }) => {
      await account.enableClient(id, decision);
      return 'Enabled. Members can connect it again.';
    },
    correct(rows, { id = '' }) {
      appRow(rows, id).disabled = false;
    },
    back: ({ id = '' }) => pathOfApp(id),
  },
  {
    path: '/apps/:id/revoke',
    section: 'apps',
    button: 'Require consent again',
    ask: async (deps, { id = '' }) => ({
      title: `Require consent again for ${await appName(deps, id)}?`,
      text: html`<p>All members are disconnected from it at once, and it has to ask each of them again. ${await connected(deps, id)}</p>`,
    }),
    run: async ({ account }, { params: { id = '' }, decision }) => {
      const { ended } = await account.revokeClient(id, decision);
      return `Members will be asked again. ${counted(ended, 'grant')} ended.`;
    },
    correct: (rows, { id }) => forgetGrants(rows, ({ app }) => app.id === id),
    back: ({ id = '' }) => pathOfApp(id),
  },
  {
    path: '/apps/:id/delete',
    section: 'apps',
    button: 'Delete',
    ask: async (deps, { id = '' }) => ({
      title: `Delete ${await appName(deps, id)}?`,
      text: html`<p>Its registration and all its grants are deleted. It can register again, or present its metadata document again: to keep it out, disable it. ${await connected(deps, id)}</p>`,
    }),
    run: async ({ account }, { params: { id = '' }, decision }) => {
      const { ended } = await account.deleteClient(id, decision);
      return `Deleted. ${counted(ended, 'grant')} ended.`;
    },
    correct(rows, { id = '' }) {
      forgetGrants(rows, ({ app }) => app.id === id);
      rows.apps.delete(id);
    },
    back: () => pathOf('apps'),
  },
];

const OTHER_ACTIONS: readonly OperatorAction[] = [
  {
    path: '/grants/:id/revoke',
    section: 'grants',
    button: 'Disconnect',
    ask: async (deps, { id = '' }) => {
      const grant = await deps.grants.find(id);
      const [who, app] = grant
        ? await Promise.all([memberName(deps, grant.member), appName(deps, grant.clientId)])
        : [undefined, 'the app'];
      return {
        title: `Disconnect ${app}${who === undefined ? '' : ` from ${who}`}?`,
        text: html`<p>This grant and all its tokens end at once. Other grants of the same app stay.</p>`,
      };
    },
    run: async ({ account }, { params: { id = '' }, decision }) => {
      await account.revokeGrant(id, decision);
      return 'Disconnected. The grant has ended.';
    },
    correct: (rows, { id }) => forgetGrants(rows, (grant) => grant.id === id),
    back: ({ id = '' }) => pathOfGrant(id),
  },
  {
    path: '/consent',
    section: 'apps',
    button: 'Disconnect every app',
    ask: async () => ({
      title: 'Require consent again for all apps?',
      text: html`<p>Every app of every member is disconnected at once, and each app has to ask its members again. With many grants this takes some minutes.</p>`,
    }),
    run: async ({ account }, { decision }) => {
      const { ended } = await account.revokeClients(decision);
      return `Every app has to ask its members again. ${counted(ended, 'grant')} ended.`;
    },
    correct: (rows) => forgetGrants(rows, () => true),
    back: () => pathOf('apps'),
  },
  {
    path: '/registration/close',
    section: 'apps',
    button: 'Close registration',
    run: async ({ account }, { decision }) => {
      await account.closeRegistration(decision);
      return 'Registration is closed. New apps are refused.';
    },
    correct: () => {},
    back: () => pathOf('apps'),
  },
  {
    path: '/registration/open',
    section: 'apps',
    button: 'Open registration',
    run: async ({ account }, { decision }) => {
      await account.openRegistration(decision);
      return 'Registration is open. New apps can connect.';
    },
    correct: () => {},
    back: () => pathOf('apps'),
  },
];

/** How many members an action on this app concerns. */
async function connected({ grants }: DirectoryDeps, client: string): Promise<string> {
  return `It has ${counted(await grants.count({ client }), 'grant')} now.`;
}

export const ACTIONS: readonly OperatorAction[] = [...MEMBER_ACTIONS, ...APP_ACTIONS, ...OTHER_ACTIONS];
