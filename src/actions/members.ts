import { counted } from '../http/amounts.ts';
import { action, type Lookup } from './action.ts';
import type { ActionSubject } from './subject.ts';

export const MEMBER: ActionSubject = {
  path: '/members/:id',
  list: 'members list',
  grants: (id) => ({ member: id }),
  describe: ({ account }, id) => account.describeMember(id),
  unknown: (ids) =>
    ids.length === 1
      ? `No member with the id ${ids[0]} has ever connected an app.`
      : `No members with these ids have ever connected an app: ${ids.join(', ')}.`,
};

const COMMAND = {
  examples: ['--config coursegate.yaml m-1001 --reason "as agreed"'],
  argument: ['<members...>', 'their ids in the backend'],
} as const;

export const MEMBER_LOOKUPS: readonly Lookup[] = [
  {
    path: '/members',
    query: ['q', 'cursor', 'limit'],
    run: ({ account }, { query }) => account.listMembers(query.text('q'), query.page()),
  },
  { path: MEMBER.path, query: [], run: (controls, { id }) => MEMBER.describe(controls, id) },
];

export const MEMBER_ACTIONS = {
  revoke: action({
    path: '/members/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeMember(id, decision),
    audit: ['member_revoked', 'All apps disconnected'],
    subject: MEMBER,
    applies: ({ grants }) => grants.length > 0,
    ask: ({ name }) => ({
      title: `Disconnect all apps of ${name}?`,
      text: 'All connected apps lose access at once. They can be connected again.',
    }),
    done: ({ ended }) => `Disconnected. ${counted(ended, 'grant')} ended.`,
    command: { ...COMMAND, description: 'end every connection of a member' },
    page: { path: '/members/:id/revoke', back: '/members/:id', button: 'Disconnect all apps' },
  }),
  suspend: action({
    path: '/members/:id/suspend',
    run: ({ account }, { id, decision }) => account.suspendMember(id, decision),
    audit: ['member_suspended', 'Member suspended'],
    subject: MEMBER,
    // A member can be kept from connecting at all.
    anyway: 'Allow no connections from now on?',
    applies: ({ state }) => state === 'active',
    ask: ({ name }) => ({
      title: `Suspend ${name}?`,
      text: 'All connected apps lose access at once, and none can be connected until you resume. The account at the site itself stays as it is.',
    }),
    done: ({ ended }) => `Suspended. ${counted(ended, 'grant')} ended.`,
    command: {
      ...COMMAND,
      description: 'end every connection of a member, and allow no new ones until they are resumed',
    },
    page: { path: '/members/:id/suspend', back: '/members/:id', button: 'Suspend', first: true },
  }),
  resume: action({
    path: '/members/:id/resume',
    run: ({ account }, { id, decision }) => account.resumeMember(id, decision),
    audit: ['member_resumed', 'Member resumed'],
    subject: MEMBER,
    // To resume a member ends their connections, so that none of the suspension is left: not of an active one.
    applies: ({ state }) => state === 'suspended',
    idle: 'was not suspended',
    done: () => 'Resumed. The member can connect apps again.',
    command: { ...COMMAND, description: 'allow a suspended member to connect apps again' },
    page: { path: '/members/:id/resume', back: '/members/:id', button: 'Resume', first: true },
  }),
  disconnect: action({
    run: ({ account }, { id, client = '', decision }) => account.revokeApp(id, client, decision),
    subject: MEMBER,
    ask: ({ name, app }) => ({
      title: `Disconnect ${app} from ${name}?`,
      text: 'The app loses access to the account of this member at once. It can ask the member again.',
    }),
    done: ({ ended }, { app }) => (ended === 0 ? `${app} was not connected any more.` : `${app} is disconnected.`),
    page: { path: '/members/:id/apps/:client', back: '/members/:id', button: 'Disconnect' },
  }),
};
