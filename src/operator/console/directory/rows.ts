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

export interface MemberRow {
  readonly id: string;
  readonly name: string | undefined;
  readonly email: string | undefined;
  /** For the search, as `searchText` writes it. */
  readonly text: string;
  suspended: boolean;
  grants: number;
}

export interface AppRow {
  readonly id: string;
  readonly name: string | undefined;
  readonly kind: 'registered' | 'document' | 'unknown';
  readonly hosts: readonly string[];
  readonly text: string;
  disabled: boolean;
  grants: number;
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

/** Lower case, without accents. */
export function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The member with this id, who may have connected an app and be gone from the store since: then without a name. */
export function memberRow({ members }: Rows, id: string, known: Partial<MemberRow> = {}): MemberRow {
  const row = members.get(id) ?? {
    ...{ id, name: undefined, email: undefined, text: searchText([id]), suspended: false, grants: 0 },
    ...known,
  };
  members.set(id, row);
  return row;
}

export function appRow({ apps }: Rows, id: string, known: Partial<AppRow> = {}): AppRow {
  const row: AppRow = apps.get(id) ?? {
    ...{ id, name: undefined, kind: 'unknown', hosts: [], text: searchText([id]) },
    ...{ disabled: false, grants: 0 },
    ...known,
  };
  apps.set(id, row);
  return row;
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
