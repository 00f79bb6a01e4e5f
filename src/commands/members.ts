import { MEMBER, MEMBER_ACTIONS } from '../actions/members.ts';
import { actionCommand } from './action-command.ts';
import type { Define } from './command.ts';
import { answer, asking, everyPage, known, type OperatorFlags } from './operator.ts';
import { grantsTable, type MemberDetail, type MemberView, table, when } from './views.ts';

export const define: Define = (command, terminal) => {
  asking(command, 'list').action(async ({ q, ...flags }: OperatorFlags & { readonly q?: string }) => {
    const members = await everyPage<MemberView>(terminal, flags, '/members', { q }, 'members');
    answer(terminal, flags, members, () =>
      table(
        terminal,
        ['MEMBER', 'NAME', 'EMAIL', 'STATE', 'CONNECTIONS'],
        members.map(({ id, name, email, state, connections }) => [id, name, email, state, String(connections)]),
      ),
    );
  });

  asking(command, 'show').action(async (id: string, flags: OperatorFlags) => {
    const member = await known<MemberDetail>(terminal, flags, MEMBER, id);
    const since = member.suspended_at === undefined ? [] : [['since', when(member.suspended_at)]];
    answer(terminal, flags, member, () =>
      [table(terminal, ['MEMBER', member.id], [['state', member.state], ...since]), grantsTable(terminal, member)].join(
        '\n',
      ),
    );
  });

  for (const row of Object.entries(MEMBER_ACTIONS)) actionCommand(command, terminal, row);
};
