import type { Define } from './command.ts';
import { misused } from './failure.ts';
import { answer, asking, changing, confirmed, get, type OperatorFlags } from './operator.ts';
import { type Grants, grantsTable } from './views.ts';

interface OwnerFlags extends OperatorFlags {
  readonly member?: string;
  readonly client?: string;
}

export const define: Define = (command, terminal) => {
  asking(
    command,
    'list',
    'list the grants of a member or an app',
    '--config coursegate.yaml --member m-1001',
    '--config coursegate.yaml --client CLIENT_ID --json',
  )
    .option('--member <id>', 'grants of this member')
    .option('--client <id>', 'grants of this app')
    .action(async (flags: OwnerFlags) => {
      const { kind, id } = ownerOf(flags);
      const { grants, more } = await get<Grants>(terminal, flags, `/grants?${new URLSearchParams({ [kind]: id })}`);
      if (more) terminal.tell(`Only the first ${grants.length} are shown.`);
      answer(terminal, flags, grants, () => grantsTable(terminal, { grants, more: false }));
    });

  changing(
    command,
    'revoke',
    'end one grant, or all grants of a member or an app',
    '--config coursegate.yaml GRANT_ID',
    '--config coursegate.yaml --member m-1001 --reason "phone stolen" --yes',
  )
    .argument('[grant]', 'the id of the grant')
    .option('--member <id>', 'all grants of this member')
    .option('--client <id>', 'all grants of this app')
    .action(async (grant: string | undefined, flags: OwnerFlags) => {
      const { kind, id } = ownerOf(flags, grant);
      const question = `End ${grant === undefined ? 'all these grants' : `grant ${grant}`}?`;
      const change = await confirmed(terminal, flags, question);
      const told = await change<{ ended: number }>(`/${kind}s/${encodeURIComponent(id)}/revoke`);
      answer(terminal, flags, told, () => `${told.ended} grants ended\n`);
    });
};

/** Whose grants are meant: exactly one must be given. */
function ownerOf({ member, client }: OwnerFlags, grant?: string): { readonly kind: string; readonly id: string } {
  const given = Object.entries({ member, client, grant }).flatMap(([kind, id]) =>
    id === undefined ? [] : [{ kind, id }],
  );
  const [owner] = given;
  if (owner === undefined || given.length > 1) throw misused('Specify a grant id, --member or --client.');
  return owner;
}
