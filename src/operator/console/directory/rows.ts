import { folded } from '../../../http/visible-text.ts';

/** What the console can search. Details and actions read the store instead. Times are Unix seconds. */
export interface Rows {
  readonly members: Map<string, MemberRow>;
  readonly apps: Map<string, AppRow>;
  readonly grants: Map<string, GrantRow>;
  /** The texts of their scopes, which many have in common. */
  readonly scopes: Map<string, string>;
  /** Whether the store has more members or apps than these; of the rows of one member or app, more grants. */
  more: boolean;
  /** Whether grants are missing, and with them what is counted by them: the rows that are shown are read again by key. */
  partial: boolean;
}

/** What members and apps have in common. */
interface PartyRow {
  readonly id: string;
  readonly name: string | undefined;
  /** For the search, as `searchText` writes it. */
  readonly text: string;
  /** What is out of the ordinary. */
  state: 'suspended' | 'disabled' | undefined;
  grants: number;
}

export interface MemberRow extends PartyRow {
  readonly email: string | undefined;
}

export interface AppRow extends PartyRow {
  readonly kind: 'registered' | 'document' | 'unknown';
  readonly hosts: readonly string[];
}

export interface GrantRow {
  readonly id: string;
  readonly member: MemberRow;
  readonly app: AppRow;
  /** Space-separated. */
  readonly scopes: string;
  readonly grantedAt: number;
  readonly expiresAt: number | undefined;
  lastUsedAt: number | undefined;
  /** Whether the app has fetched its token: otherwise it is approved, but not connected. */
  redeemed: boolean;
}

export function emptyRows(): Rows {
  const [members, apps, grants, scopes] = [new Map(), new Map(), new Map(), new Map()];
  return { members, apps, grants, scopes, more: false, partial: false };
}

/** One field a line, so that a search can tell the beginning of a field from its middle. */
export function searchText(fields: readonly (string | undefined)[]): string {
  return `\n${fields
    .filter((field) => field !== undefined)
    .map(folded)
    .join('\n')}\n`;
}

/** What a member or an app is called: by the id if nothing else is known. */
export function nameOf(row: Pick<MemberRow, 'id' | 'name'> & { readonly email?: string | undefined }): string {
  return row.name ?? row.email ?? row.id;
}

/** The member with this id, who may have connected an app and be gone from the store since: then without a name. */
export function memberRow({ members }: Rows, id: string, known?: Partial<MemberRow>): MemberRow {
  const row: MemberRow = Object.assign(members.get(id) ?? { ...unknown(id), email: undefined }, known);
  members.set(id, row);
  return row;
}

export function appRow({ apps }: Rows, id: string, known?: Partial<AppRow>): AppRow {
  const row: AppRow = Object.assign(apps.get(id) ?? { ...unknown(id), kind: 'unknown', hosts: [] }, known);
  apps.set(id, row);
  return row;
}

function unknown(id: string): PartyRow {
  return { id, name: undefined, text: searchText([id]), state: undefined, grants: 0 };
}

/** Takes out grants that have ended. */
export function forgetGrants({ grants }: Rows, ended: (grant: GrantRow) => boolean): void {
  for (const grant of grants.values()) {
    if (!ended(grant)) continue;
    grants.delete(grant.id);
    grant.member.grants -= 1;
    grant.app.grants -= 1;
  }
}
