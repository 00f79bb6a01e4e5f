import type { Label } from '../pages/app-row.ts';
import type { AreaLine, ConnectedApp } from '../pages/connected-app.ts';
import type { DayUse } from '../pages/usage-chart.ts';
import { type AppGrants, rowOf, scopesOf } from './app-list.ts';
import { type AreaNames, areaLabel, isApproval, isChange } from './areas.ts';
import { appsPath, type CarriedParameters, disconnectPath } from './target.ts';
import type { GrantUse } from './usage.ts';
import { TOLD_DAYS } from './use-entry.ts';

/** The most connections listed for one app. */
const LISTED = 20;

interface DetailsParts {
  /** Grants of the app whose codes were never redeemed, by id. */
  readonly unredeemed: ReadonlySet<string>;
  readonly names: AreaNames;
  readonly carried: CarriedParameters;
  /** In days since the epoch, UTC. */
  readonly today: number;
}

/** What the page about one app shows, apart from the app's own metadata. */
export function detailsOf(
  app: AppGrants,
  uses: ReadonlyMap<string, GrantUse>,
  { unredeemed, names, carried, today }: DetailsParts,
): Omit<ConnectedApp, 'app' | 'ownSession'> {
  const { grants, areas } = app;
  const [approvals, others] = apart([...areas], ([area]) => isApproval(area));
  const [changes, reads] = apart(others, ([area]) => isChange(area, names));
  const titles = (of: 'read' | 'write') =>
    scopesOf(grants, names, of).map(
      (token): Label =>
        (words) =>
          words.own(names.scopes[token]?.title ?? token),
    );
  const lines = (some: readonly (readonly [string, { count: number; last: number }])[]) =>
    some
      .map(([area, use]): AreaLine => ({ label: areaLabel(area, names), ...use }))
      .toSorted((a, b) => b.count - a.count || b.last - a.last);
  return {
    ...rowOf(app, unredeemed, names, carried),
    all: appsPath(carried),
    connections: grants.slice(0, LISTED).map(({ id, grantedAt }) => ({
      connectedAt: grantedAt,
      lastUsedAt: uses.get(id)?.lastUsedAt,
      disconnect: disconnectPath({ kind: 'connection', id }, carried),
    })),
    olderConnections: Math.max(0, grants.length - LISTED),
    sees: titles('read'),
    changes: titles('write'),
    connectedAt: grants[0]?.grantedAt ?? 0,
    did: { approvals: lines(approvals), changes: lines(changes), reads: lines(reads) },
    days: daysOf(app, uses, names, today),
  };
}

/** The use on each of the days that are kept, the oldest first. */
function daysOf({ grants }: AppGrants, uses: ReadonlyMap<string, GrantUse>, names: AreaNames, today: number) {
  return Array.from({ length: TOLD_DAYS }, (_, at): DayUse => {
    const day = today - TOLD_DAYS + 1 + at;
    const all = grants.flatMap(({ id }) => [...(uses.get(id)?.days.get(day) ?? [])]);
    const used = all.filter(([area]) => !isApproval(area));
    const [changes, reads] = apart(used, ([area]) => isChange(area, names));
    const sum = (some: typeof used) => some.reduce((total, [, { count }]) => total + count, 0);
    return { day, reads: sum(reads), changes: sum(changes) };
  });
}

function apart<Item>(items: readonly Item[], test: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
