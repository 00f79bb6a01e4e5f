import { action, type Lookup } from './action.ts';

export const GRANT_LOOKUPS: readonly Lookup[] = [
  {
    path: '/grants',
    query: ['member', 'client'],
    run: ({ account }, { query }) => account.listGrants(query.owner()),
  },
];

export const GRANT_ACTIONS = {
  revoke: action({
    path: '/grants/:id/revoke',
    run: ({ account }, { id, decision }) => account.revokeGrant(id, decision),
    audit: ['grant_ended', 'Connection ended by command'],
    touches: ({ member }) => ({ member }),
    ask: ({ name, app, member }) => ({
      title: app === undefined ? `Disconnect the grant ${name}?` : `Disconnect ${app} from ${member}?`,
      text: 'This grant and all its tokens end at once. Other grants of the same app stay.',
    }),
    done: () => 'Disconnected. The grant has ended.',
    command: {
      description: 'end one grant; members show and clients show list them',
      examples: ['--config coursegate.yaml GRANT_ID --reason "phone stolen" --yes'],
      argument: ['<grant>', 'the id of the grant'],
    },
    page: { path: '/grants/:id/revoke', back: '/grants/:id', button: 'Disconnect' },
  }),
};
