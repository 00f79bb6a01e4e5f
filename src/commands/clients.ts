import { Option } from 'commander';
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
import { type ClientDetail, type ClientView, grantsTable, when } from './views.ts';

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
    anyway: undefined,
  },
  disable: {
    description: 'end every connection of an app, and refuse it until it is enabled again',
    question: 'End every connection and block all requests of',
    anyway: undefined,
  },
  enable: {
    description: 'allow a disabled app again',
    question: undefined,
    // An app that was deleted while it was disabled is refused when it comes back.
    anyway: 'Allow it should it come back?',
  },
  delete: {
    description: 'end every connection of an app, and delete it; it may register again',
    question: 'End every connection and delete the registration of',
    anyway: undefined,
  },
} as const;

export const define: Define = (command, terminal) => {
  asking(command, 'list', 'list apps', '--config coursegate.yaml', '--config coursegate.yaml --host claude.ai --json')
    .option('--name <text>', 'only apps with this text in their name or id')
    .option('--host <host>', 'only apps that redirect members to this host')
    .addOption(
      new Option(
        '--kind <kind>',
        'only apps that registered, or that are known by a client ID metadata document',
      ).choices(['registered', 'document']),
    )
    .action(async ({ name, host, kind, ...flags }: ListFlags) => {
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

  withExits(
    asking(command, 'show', 'show an app and the members who have connected it', '--config coursegate.yaml CLIENT_ID'),
    { [EXIT.unanswered]: 'no such app' },
  )
    .argument('<client>', 'the client_id of the app')
    .action(async (id: string, flags: OperatorFlags) => {
      const client = await get<ClientDetail>(terminal, flags, `/clients/${encodeURIComponent(id)}`);
      if (isStranger(client)) {
        throw new CommandFailure(neverSeen(id), {
          next: `coursegate clients list ${gateWords(flags)}`,
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
          grantsTable(terminal, client),
        ].join('\n'),
      );
    });

  for (const [verb, { description, question, anyway }] of Object.entries(VERBS)) {
    changing(command, verb, description, '--config coursegate.yaml CLIENT_ID --reason "as agreed"')
      .argument('<client>', 'the client_id of the app')
      .action(async (id: string, flags: OperatorFlags) => {
        const isNew = isStranger(await get<ClientDetail>(terminal, flags, `/clients/${encodeURIComponent(id)}`));
        if (isNew)
          await requireMeant(terminal, flags, { message: neverSeen(id), question: anyway, list: 'clients list' });
        const change = await confirmed(terminal, flags, question && `${question} ${id}?`);
        const reply = await change<{ ended?: number }>(`/clients/${encodeURIComponent(id)}/${verb}`);
        const ended = reply.ended === undefined ? '' : `: ${reply.ended} connections ended`;
        answer(terminal, flags, reply, () => `${verb}d ${id}${ended}\n`);
      });
  }
};

function isStranger({ known, grants }: ClientDetail): boolean {
  return known === false && grants.length === 0;
}

const neverSeen = (id: string): string => `No app has the id ${id}.`;
