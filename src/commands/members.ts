import { adminClient } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { GRANT_HEADINGS, type GrantView, grantRows } from './grants.ts';
import { agreed, answer, asking, change, changing, everyPage, type OperatorFlags, table, when } from './operator.ts';

interface MemberView {
  readonly id: string;
  readonly name?: string;
  readonly email?: string;
  readonly state: string;
  readonly suspended_at?: string;
  readonly connections: number;
}

interface MemberDetail {
  readonly id: string;
  readonly state: string;
  readonly suspended_at?: string;
  readonly known: boolean;
  readonly grants: readonly GrantView[];
  readonly more: boolean;
}

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
  asking(command.command('list'))
    .description('list the members who have connected apps')
    .option('--q <text>', 'only members with this text in their id, name or email')
    .addHelpText('after', examples('coursegate members list --config coursegate.yaml --q @example.com'))
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

  asking(command.command('show'))
    .description('show the connections of a member, and whether they are suspended')
    .argument('<member>', 'their id in the backend')
    .addHelpText('after', examples('coursegate members show --config coursegate.yaml m-1001'))
    .action(async (id: string, flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      const member = (await gate.command('GET', `/members/${encodeURIComponent(id)}`)) as MemberDetail;
      if (!member.known && member.state === 'active' && member.grants.length === 0) {
        throw new CommandFailure(`No member with the id ${id} has ever connected an app.`, {
          next: 'coursegate members list --help',
          code: EXIT.unanswered,
        });
      }
      answer(terminal, flags, member, () =>
        [
          table(
            terminal,
            ['MEMBER', member.id],
            [
              ['state', member.state],
              ...(member.suspended_at === undefined ? [] : [['since', when(member.suspended_at)]]),
            ],
          ),
          table(terminal, GRANT_HEADINGS, grantRows(member.grants)),
          member.more ? 'Not all grants are shown.\n' : '',
        ].join('\n'),
      );
    });

  for (const [verb, { description, question, done }] of Object.entries(VERBS)) {
    changing(command.command(verb))
      .description(description)
      .argument('<members...>', 'their ids in the backend')
      .addHelpText('after', examples(`coursegate members ${verb} --config coursegate.yaml m-1001 --reason "as agreed"`))
      .action(async (ids: readonly string[], flags: OperatorFlags) => {
        const { progressOf } = await import('./progress.ts');
        const gate = await adminClient(flags, terminal.environment);
        const whom = ids.length === 1 ? ids[0] : `${ids.length} members`;
        if (question !== undefined) await agreed(terminal, flags, `${question} ${whom}?`);
        const progress = progressOf(terminal, `${verb} ${ids.length} members`);
        const told: { id: string; ended?: number }[] = [];
        for (const id of ids) {
          told.push((await change(gate, `/members/${encodeURIComponent(id)}/${verb}`, flags)) as { id: string });
          progress.at(told.length, ids.length);
        }
        progress.done();
        answer(terminal, flags, told, () =>
          told
            .map(({ id, ended }) => `${done} ${id}${ended === undefined ? '' : `: ${ended} connections ended`}\n`)
            .join(''),
        );
      });
  }
};
