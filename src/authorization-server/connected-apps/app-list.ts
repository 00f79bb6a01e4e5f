import type { EventClient } from '../../events/event.ts';
import { folded } from '../../http/visible-text.ts';
import type { StandingGrant } from '../grants.ts';
import type { ConnectedAppRow } from '../pages/app-row.ts';
import { type AreaNames, subjectsOf } from './areas.ts';
import { appsPath, type CarriedParameters, detailsPath, disconnectPath } from './target.ts';
import { addUp, type GrantUse } from './usage.ts';
import { type AreaUse, DAY, TOLD_DAYS } from './use-entry.ts';

/** A member's grants to one app, newest first, and their use. Times are Unix seconds. */
export interface AppGrants {
  readonly clientId: string;
  readonly grants: readonly StandingGrant[];
  readonly lastUsedAt: number | undefined;
  readonly areas: ReadonlyMap<string, AreaUse>;
}

/** Apps per page. */
const PAGE = 25;
/** More apps than this can be searched, sorted and narrowed down. */
const FEW = 5;

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

function latestOf({ lastUsedAt = 0, ...app }: AppGrants): number {
  return Math.max(connectedAt(app), lastUsedAt);
}

function connectedAt({ grants: [newest] }: Pick<AppGrants, 'grants'>): number {
  return newest?.grantedAt ?? 0;
}

interface ListContext {
  readonly names: AreaNames;
  /** Unix seconds. */
  readonly now: number;
  /** What the apps call themselves, by id. Needed only to search and to sort by name. */
  readonly called: ReadonlyMap<string, EventClient>;
}

/** The apps on the page that was asked for, how to choose others, and the links to the pages around it. */
export function pageOf(apps: readonly AppGrants[], carried: CarriedParameters, context: ListContext) {
  const { names, now, called } = context;
  const groups = {
    change: apps.filter(({ grants }) => scopesOf(grants, names, 'write').length > 0),
    unused: apps.filter((app) => latestOf(app) < now - TOLD_DAYS * DAY),
  };
  const { page = '1', ...asked } = carried;
  const group = asked.show === undefined ? apps : groups[asked.show as keyof typeof groups];
  const found = sorted(matching(group, asked.q, called), asked.sort, called);
  const number = Math.min(Math.max(1, Math.ceil(found.length / PAGE)), Number(page));
  const first = (number - 1) * PAGE;
  const shown = found.slice(first, first + PAGE);
  const counts = { all: apps.length, change: groups.change.length, unused: groups.unused.length };
  const at = (other: number) => appsPath({ ...asked, page: String(other) });
  return {
    shown,
    filter: apps.length > FEW ? { asked, counts } : undefined,
    range: { first: first + 1, last: first + shown.length, count: found.length },
    previous: number > 1 ? at(number - 1) : undefined,
    next: first + PAGE < found.length ? at(number + 1) : undefined,
  };
}

/** The apps whose name or host contains the text, regardless of case and accents. */
function matching(apps: readonly AppGrants[], q: string | undefined, called: ListContext['called']) {
  if (q === undefined) return apps;
  const wanted = folded(q);
  return apps.filter(({ clientId }) => {
    const { name = '', host = '' } = called.get(clientId) ?? {};
    return folded(`${name} ${host}`).includes(wanted);
  });
}

/** Apps without a name come last. */
function sorted(apps: readonly AppGrants[], sort: string | undefined, called: ListContext['called']) {
  if (sort === 'connected') return apps.toSorted((a, b) => connectedAt(b) - connectedAt(a));
  if (sort !== 'name') return apps;
  const { compare } = new Intl.Collator('en', { numeric: true });
  const nameOf = ({ clientId }: AppGrants) => called.get(clientId)?.name ?? '\uFFFF';
  return apps.toSorted((a, b) => compare(nameOf(a), nameOf(b)));
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
    sees: subjectsOf(scopesOf(grants, names, 'read'), names),
    changes: subjectsOf(scopesOf(grants, names, 'write'), names),
    redeemed: lastUsedAt !== undefined || !grants.every(({ id }) => unredeemed.has(id)),
    lastUsedAt,
    endsAt: Number.isFinite(end) ? end : undefined,
    details: detailsPath(clientId, carried),
    disconnect: disconnectPath({ kind: 'app', clientId }, carried),
  };
}

/** The scopes of an app's grants that let it make changes, or the others. */
export function scopesOf(
  grants: readonly StandingGrant[],
  { scopes }: AreaNames,
  of: 'read' | 'write',
): readonly string[] {
  const all = new Set(grants.flatMap((grant) => grant.scopes));
  return [...all].filter((token) => (scopes[token]?.kind === 'write') === (of === 'write'));
}
