import type { AccountControl } from '../authorization-server/administration/account-control.ts';
import type { KeyControl } from '../authorization-server/administration/key-control.ts';
import { visibleText } from '../http/visible-text.ts';
import { alignedLines } from '../operator/connect/columns.ts';
import type { Terminal } from './terminal.ts';

type Answer<Name extends keyof AccountControl> = Awaited<ReturnType<AccountControl[Name]>>;

export type ClientView = Answer<'listClients'>['clients'][number];
/** Of an app that is unknown, only the id and its grants. */
export type ClientDetail = Partial<ClientView> &
  GrantList & { readonly id: string; readonly known?: boolean; readonly redirect_uris?: readonly string[] };
export type MemberView = Answer<'listMembers'>['members'][number];
export type MemberDetail = Answer<'describeMember'>;
export type GrantList = Answer<'listGrants'>;
export type KeyList = Awaited<ReturnType<KeyControl['list']>>;

export function grantsTable(terminal: Terminal, { grants, more }: GrantList): string {
  const rows = grants.map((grant) => [
    grant.id,
    grant.member,
    grant.client_id,
    grant.scopes.join(' '),
    when(grant.granted_at),
    when(grant.last_used_at),
  ]);
  const text = table(terminal, ['GRANT', 'MEMBER', 'CLIENT', 'SCOPES', 'SINCE', 'LAST USED'], rows);
  return more ? `${text}\nNot all grants are shown.\n` : text;
}

/** `2026-11-22T10:49:31.000Z` becomes `2026-11-22 10:49 UTC`. */
export function when(iso: string | undefined): string {
  return iso === undefined ? '' : iso.replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC');
}

/** Renders aligned columns. No cell is truncated. */
export function table(
  { colour }: Pick<Terminal, 'colour'>,
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  const cells = rows.map((row) => row.map((cell) => visibleText(cell ?? '')));
  const [head = '', ...lines] = alignedLines([headings, ...cells]);
  return [colour() ? `\u001b[1m${head}\u001b[22m` : head, ...lines].map((text) => `${text}\n`).join('');
}
