import type { StandingGrant } from '../grants.ts';
import type { ConnectedAppRow } from '../pages/app-row.ts';
import type { AreaNames } from './areas.ts';
import { appsPath, type CarriedParameters, detailsPath, disconnectPath } from './target.ts';
import { addUp, type GrantUse } from './usage.ts';
import type { AreaUse } from './use-entry.ts';

/** A member's grants to one app, newest first, and their use. Times are Unix seconds. */
export interface AppGrants {
  readonly clientId: string;
  readonly grants: readonly StandingGrant[];
  readonly lastUsedAt: number | undefined;
  readonly areas: ReadonlyMap<string, AreaUse>;
}

/** Apps per page. */
const PAGE = 10;

/** Groups grants by app, most recently used or connected app first. */
export function byApp(grants: readonly StandingGrant[], uses: ReadonlyMap<string, GrantUse>): readonly AppGrants[] {
  const groups = Map.groupBy(
    grants.toSorted((a, b) => b.grantedAt - a.grantedAt),
    ({ clientId }) => clientId,
  );
  return [...groups]
    .map(([clientId, own]): AppGrants => {
      const areas = new Map<string, AreaUse>();
      for (const { id } of own) addUp(areas, uses.get(id)?.areas ?? new Map());
      const used = own.flatMap(({ id }) => uses.get(id)?.lastUsedAt ?? []);
      return { clientId, grants: own, lastUsedAt: used.length === 0 ? undefined : Math.max(...used), areas };
    })
    .toSorted((a, b) => latestOf(b) - latestOf(a));
}

function latestOf({ grants: [newest], lastUsedAt = 0 }: AppGrants): number {
  return Math.max(newest?.grantedAt ?? 0, lastUsedAt);
}

/** The apps on one page, and links to the pages around it. `asked` is the page parameter as it was sent. */
export function pageOf(apps: readonly AppGrants[], asked: string | null, carried: CarriedParameters) {
  const last = Math.max(1, Math.ceil(apps.length / PAGE));
  const number = Math.min(last, Number(/^[1-9]\d{0,3}$/.exec(asked ?? '')?.[0] ?? 1));
  return {
    shown: apps.slice((number - 1) * PAGE, number * PAGE),
    previous: number > 1 ? appsPath({ ...carried, page: String(number - 1) }) : undefined,
    next: number < last ? appsPath({ ...carried, page: String(number + 1) }) : undefined,
  };
}

/** What the list shows of an app, apart from the app's own metadata. */
export function rowOf(
  { clientId, grants, lastUsedAt }: AppGrants,
  unredeemed: ReadonlySet<string>,
  names: AreaNames,
  carried: CarriedParameters,
): Omit<ConnectedAppRow, 'app'> {
  const end = Math.max(...grants.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY));
  return {
    canChange: scopesOf(grants).some((token) => names.scopes[token]?.kind === 'write'),
    redeemed: lastUsedAt !== undefined || !grants.every(({ id }) => unredeemed.has(id)),
    lastUsedAt,
    endsAt: Number.isFinite(end) ? end : undefined,
    details: detailsPath(clientId, carried),
    disconnect: disconnectPath({ kind: 'app', clientId }, carried),
  };
}

/** All scopes of an app's grants. */
export function scopesOf(grants: readonly StandingGrant[]): readonly string[] {
  return [...new Set(grants.flatMap(({ scopes }) => scopes))];
}
