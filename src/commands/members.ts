import { type Define, withExits } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import {
  answer,
  asking,
  changing,
  confirmed,
  everyPage,
  gateWords,
  get,
  type OperatorFlags,
  requireMeant,
} from './operator.ts';
import { table } from './table.ts';
import { grantsTable, type MemberDetail, type MemberView, when } from './views.ts';

const VERBS = {
  revoke: {
    description: 'end every connection of a member',
    question: 'End every connection of',
    anyway: undefined,
    done: 'revoked',
  },
  suspend: {
    description: 'end every connection of a member, and allow no new ones until they are resumed',
    question: 'End every connection and allow no new ones for',
    // A member can be kept from connecting at all.
    anyway: 'Allow no connections from now on?',
    done: 'suspended',
  },
  resume: {
    description: 'allow a suspended member to connect apps again',
    question: undefined,
    anyway: undefined,
    done: 'resumed',
  },
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

  withExits(
    asking(
      command,
      'show',
      'show the connections of a member, and whether they are suspended',
      '--config coursegate.yaml m-1001',
    ),
    { [EXIT.unanswered]: 'no such member' },
  )
    .argument('<member>', 'their id in the backend')
    .action(async (id: string, flags: OperatorFlags) => {
      const member = await get<MemberDetail>(terminal, flags, `/members/${encodeURIComponent(id)}`);
      if (isStranger(member)) {
        throw new CommandFailure(neverSeen([id]), {
          next: `coursegate members list ${gateWords(flags)}`,
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

  for (const [verb, { description, question, anyway, done }] of Object.entries(VERBS)) {
    changing(command, verb, description, '--config coursegate.yaml m-1001 --reason "as agreed"')
      .argument('<members...>', 'their ids in the backend')
      .action(async (ids: readonly string[], flags: OperatorFlags) => {
        const { progressOf } = await import('./progress.ts');
        const found: MemberDetail[] = [];
        for (const id of ids) found.push(await get(terminal, flags, `/members/${encodeURIComponent(id)}`));
        const strangers = found.filter(isStranger).map(({ id }) => id);
        if (strangers.length > 0)
          await requireMeant(terminal, flags, {
            message: neverSeen(strangers),
            question: anyway,
            list: 'members list',
          });
        const whom = ids.length === 1 ? ids[0] : `${ids.length} members`;
        const asks = strangers.length > 0 ? undefined : question;
        const change = await confirmed(terminal, flags, asks && `${asks} ${whom}?`);
        const progress = progressOf(terminal, `${verb} ${ids.length} members`);
        const replies: { id: string; ended?: number; state?: string }[] = [];
        const lines: string[] = [];
        for (const { id, state } of found) {
          // To resume a member ends their connections, so that none of the suspension is left: not of an active one.
          const reply =
            verb === 'resume' && state === 'active'
              ? undefined
              : await change<{ id: string; ended?: number }>(`/members/${encodeURIComponent(id)}/${verb}`);
          replies.push(reply ?? { id, state });
          const ended = reply?.ended === undefined ? '' : `: ${reply.ended} connections ended`;
          lines.push(reply === undefined ? `${id} was not suspended\n` : `${done} ${id}${ended}\n`);
          progress.at(replies.length, ids.length);
        }
        progress.done();
        answer(terminal, flags, replies, () => lines.join(''));
      });
  }
};

/** An id that never signed in is more likely a typo than a member. */
function isStranger({ known, state, grants }: MemberDetail): boolean {
  return !known && state === 'active' && grants.length === 0;
}

function neverSeen(ids: readonly string[]): string {
  return ids.length === 1
    ? `No member with the id ${ids[0]} has ever connected an app.`
    : `No members with these ids have ever connected an app: ${ids.join(', ')}.`;
}
