import { adminClient } from './admin-client.ts';
import { type Define, examples } from './command.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { GRANT_HEADINGS, type GrantView, grantRows } from './grants.ts';
import { agreed, answer, asking, change, changing, everyPage, type OperatorFlags, table, when } from './operator.ts';

interface ClientView {
  readonly id: string;
  readonly name?: string;
  readonly kind: string;
  readonly state: string;
  readonly redirect_hosts: readonly string[];
  readonly redirect_uris?: readonly string[];
  readonly connections: number;
  readonly members?: number;
  readonly last_used_at?: string;
  readonly created_at?: string;
  readonly known?: boolean;
  readonly grants: readonly GrantView[];
  readonly more: boolean;
}

interface ListFlags extends OperatorFlags {
  readonly name?: string;
  readonly host?: string;
  readonly kind?: string;
}

/** The commands that change a client, with the question to confirm before one that cannot be undone. */
const VERBS = {
  revoke: {
    description: 'end every connection of an app; it may ask members again',
    question: 'End every connection of',
  },
  disable: {
    description: 'end every connection of an app, and refuse it until it is enabled again',
    question: 'End every connection and block all requests of',
  },
  enable: { description: 'allow a disabled app again', question: undefined },
  delete: {
    description: 'end every connection of an app, and delete it; it may register again',
    question: 'End every connection and delete the registration of',
  },
} as const;

export const define: Define = (command, terminal) => {
  asking(command.command('list'))
    .description('list apps')
    .option('--name <text>', 'only apps with this text in their name or id')
    .option('--host <host>', 'only apps that redirect members to this host')
    .option('--kind <kind>', 'only apps of this kind: registered, or document (known by a client ID metadata document)')
    .addHelpText(
      'after',
      examples(
        'coursegate clients list --config coursegate.yaml',
        'coursegate clients list --config coursegate.yaml --host claude.ai --json',
      ),
    )
    .action(async ({ name, host, kind, ...flags }: ListFlags) => {
      if (kind !== undefined && kind !== 'registered' && kind !== 'document')
        throw new CommandFailure('--kind must be registered or document.', { code: EXIT.usage });
      const clients = await everyPage<ClientView>(terminal, flags, '/clients', { name, host, kind }, 'clients');
      answer(terminal, flags, clients, () =>
        table(
          terminal,
          ['CLIENT', 'NAME', 'KIND', 'STATE', 'HOSTS', 'CONNECTIONS', 'LAST USED'],
          clients.map((client) => [
            client.id,
            client.name,
            client.kind,
            client.state,
            client.redirect_hosts.join(' '),
            String(client.connections),
            when(client.last_used_at),
          ]),
        ),
      );
    });

  asking(command.command('show'))
    .description('show an app and the members who have connected it')
    .argument('<client>', 'the client_id of the app')
    .addHelpText('after', examples('coursegate clients show --config coursegate.yaml CLIENT_ID'))
    .action(async (id: string, flags: OperatorFlags) => {
      const gate = await adminClient(flags, terminal.environment);
      const client = (await gate.command('GET', `/clients/${encodeURIComponent(id)}`)) as ClientView;
      if (client.known === false && client.grants.length === 0) {
        throw new CommandFailure(`No app has the id ${id}.`, {
          next: 'coursegate clients list --help',
          code: EXIT.unanswered,
        });
      }
      answer(terminal, flags, client, () =>
        [
          table(
            terminal,
            ['CLIENT', client.id],
            [
              ['name', client.name],
              ['kind', client.kind],
              ['state', client.state],
              ['redirects', client.redirect_uris?.join(' ')],
              ['members', client.members === undefined ? undefined : String(client.members)],
              ['last used', when(client.last_used_at)],
              ['since', when(client.created_at)],
            ].filter(([, value]) => value !== undefined && value !== ''),
          ),
          table(terminal, GRANT_HEADINGS, grantRows(client.grants)),
          client.more ? 'Not all grants are shown.\n' : '',
        ].join('\n'),
      );
    });

  for (const [verb, { description, question }] of Object.entries(VERBS)) {
    changing(command.command(verb))
      .description(description)
      .argument('<client>', 'the client_id of the app')
      .addHelpText(
        'after',
        examples(`coursegate clients ${verb} --config coursegate.yaml CLIENT_ID --reason "as agreed"`),
      )
      .action(async (id: string, flags: OperatorFlags) => {
        const gate = await adminClient(flags, terminal.environment);
        if (question !== undefined) await agreed(terminal, flags, `${question} ${id}?`);
        const told = (await change(gate, `/clients/${encodeURIComponent(id)}/${verb}`, flags)) as { ended?: number };
        answer(
          terminal,
          flags,
          told,
          () => `${verb}d ${id}${told.ended === undefined ? '' : `: ${told.ended} connections ended`}\n`,
        );
      });
  }
};
