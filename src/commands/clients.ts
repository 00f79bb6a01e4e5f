import { CLIENT, CLIENT_ACTIONS } from '../actions/clients.ts';
import { actionCommand } from './action-command.ts';
import type { Define } from './command.ts';
import { answer, asking, everyPage, known, type OperatorFlags } from './operator.ts';
import { type ClientDetail, type ClientView, grantsTable, table, when } from './views.ts';

interface ListFlags extends OperatorFlags {
  readonly name?: string;
  readonly host?: string;
  readonly kind?: string;
}

export const define: Define = (command, terminal) => {
  asking(command, 'list').action(async ({ name, host, kind, ...flags }: ListFlags) => {
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

  asking(command, 'show').action(async (id: string, flags: OperatorFlags) => {
    const client = await known<ClientDetail>(terminal, flags, CLIENT, id);
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
        grantsTable(terminal, client),
      ].join('\n'),
    );
  });

  for (const row of Object.entries(CLIENT_ACTIONS)) actionCommand(command, terminal, row);
};
