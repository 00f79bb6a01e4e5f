import type { Define } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import { answer, asking, changing, confirmed, everyPage, get, type OperatorFlags } from './operator.ts';
import { table } from './table.ts';
import { grantsTable, type MemberDetail, type MemberView, when } from './views.ts';

const VERBS = {
  revoke: {
    description: 'end every connection of a member',
    question: 'End every connection of',
    done: 'revoked',
  },
  suspend: {
    description: 'end every connection of a member, and allow no new ones until they are resumed',
    question: 'End every connection and allow no new ones for',
    done: 'suspended',
  },
  resume: { description: 'allow a suspended member to connect apps again', question: undefined, done: 'resumed' },
} as const;

export const define: Define = (command, terminal) => {
  asking(command, 'list', 'list the members who have connected apps', '--config coursegate.yaml --q @example.com')
    .option('--q <text>', 'only members with this text in their id, name or email')
    .action(async ({ q, ...flags }: OperatorFlags & { readonly q?: string }) => {
      const members = await everyPage<MemberView>(terminal, flags, '/members', { q }, 'members');
      answer(terminal, flags, members, () =>
        table(
          terminal,
          ['MEMBER', 'NAME', 'EMAIL', 'STATE', 'CONNECTIONS'],
          members.map(({ id, name, email, state, connections }) => [id, name, email, state, String(connections)]),
        ),
      );
    });

  asking(
    command,
    'show',
    'show the connections of a member, and whether they are suspended',
    '--config coursegate.yaml m-1001',
  )
    .argument('<member>', 'their id in the backend')
    .action(async (id: string, flags: OperatorFlags) => {
      const member = await get<MemberDetail>(terminal, flags, `/members/${encodeURIComponent(id)}`);
      if (!member.known && member.state === 'active' && member.grants.length === 0) {
        throw new CommandFailure(`No member with the id ${id} has ever connected an app.`, {
          next: 'coursegate members list --help',
          code: EXIT.unanswered,
        });
      }
      const since = member.suspended_at === undefined ? [] : [['since', when(member.suspended_at)]];
      answer(terminal, flags, member, () =>
        [
          table(terminal, ['MEMBER', member.id], [['state', member.state], ...since]),
          grantsTable(terminal, member),
        ].join('\n'),
      );
    });

  for (const [verb, { description, question, done }] of Object.entries(VERBS)) {
    changing(command, verb, description, '--config coursegate.yaml m-1001 --reason "as agreed"')
      .argument('<members...>', 'their ids in the backend')
      .action(async (ids: readonly string[], flags: OperatorFlags) => {
        const { progressOf } = await import('./progress.ts');
        const whom = ids.length === 1 ? ids[0] : `${ids.length} members`;
        const change = await confirmed(terminal, flags, question && `${question} ${whom}?`);
        const progress = progressOf(terminal, `${verb} ${ids.length} members`);
        const replies: { id: string; ended?: number }[] = [];
        for (const id of ids) {
          replies.push(await change(`/members/${encodeURIComponent(id)}/${verb}`));
          progress.at(replies.length, ids.length);
        }
        progress.done();
        answer(terminal, flags, replies, () =>
          replies
            .map(({ id, ended }) => `${done} ${id}${ended === undefined ? '' : `: ${ended} connections ended`}\n`)
            .join(''),
        );
      });
  }
};
