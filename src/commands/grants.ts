import { adminClient } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { agreed, answer, asking, change, changing, type OperatorFlags, table, when } from './operator.ts';

export interface GrantView {
  readonly id: string;
  readonly member: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly granted_at: string;
  readonly last_used_at?: string;
  readonly expires_at?: string;
}

interface OwnerFlags extends OperatorFlags {
  readonly member?: string;
  readonly client?: string;
}

export const GRANT_HEADINGS = ['GRANT', 'MEMBER', 'CLIENT', 'SCOPES', 'SINCE', 'LAST USED'];

export function grantRows(grants: readonly GrantView[]): readonly (readonly string[])[] {
  return grants.map((grant) => [
    grant.id,
    grant.member,
    grant.client_id,
    grant.scopes.join(' '),
    when(grant.granted_at),
    when(grant.last_used_at),
  ]);
}

export const define: Define = (command, terminal) => {
  asking(command.command('list'))
    .description('list the grants of a member or an app')
    .option('--member <id>', 'grants of this member')
    .option('--client <id>', 'grants of this app')
    .addHelpText(
      'after',
      examples(
        'coursegate grants list --config coursegate.yaml --member m-1001',
        'coursegate grants list --config coursegate.yaml --client CLIENT_ID --json',
      ),
    )
    .action(async (flags: OwnerFlags) => {
      const query = queryOf(flags);
      const gate = await adminClient(flags, terminal.environment);
      const { grants, more } = (await gate.command('GET', `/grants?${query}`)) as {
        grants: readonly GrantView[];
        more: boolean;
      };
      if (more) terminal.tell(`Only the first ${grants.length} are shown.`);
      answer(terminal, flags, grants, () => table(terminal, GRANT_HEADINGS, grantRows(grants)));
    });

  changing(command.command('revoke'))
    .description('end one grant, or all grants of a member or an app')
    .argument('[grant]', 'the id of the grant')
    .option('--member <id>', 'all grants of this member')
    .option('--client <id>', 'all grants of this app')
    .addHelpText(
      'after',
      examples(
        'coursegate grants revoke --config coursegate.yaml GRANT_ID',
        'coursegate grants revoke --config coursegate.yaml --member m-1001 --reason "phone stolen" --yes',
      ),
    )
    .action(async (id: string | undefined, flags: OwnerFlags) => {
      const path = id === undefined ? ownerPath(flags) : `/grants/${encodeURIComponent(id)}/revoke`;
      if (id !== undefined && (flags.member ?? flags.client) !== undefined) throw whose();
      const gate = await adminClient(flags, terminal.environment);
      await agreed(terminal, flags, `End ${id === undefined ? 'all these grants' : `grant ${id}`}?`);
      const told = (await change(gate, path, flags)) as { ended: number };
      answer(terminal, flags, told, () => `${told.ended} grants ended\n`);
    });
};

function queryOf({ member, client }: OwnerFlags): URLSearchParams {
  if ((member === undefined) === (client === undefined)) throw whose();
  return new URLSearchParams(member === undefined ? { client: client ?? '' } : { member });
}

function ownerPath({ member, client }: OwnerFlags): string {
  if ((member === undefined) === (client === undefined)) throw whose();
  return member === undefined
    ? `/clients/${encodeURIComponent(client ?? '')}/revoke`
    : `/members/${encodeURIComponent(member)}/revoke`;
}

function whose(): CommandFailure {
  return new CommandFailure('Specify a grant id, --member or --client.', { code: EXIT.usage });
}
