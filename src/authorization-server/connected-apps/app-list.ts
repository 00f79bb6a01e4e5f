import type { ScopeConfig } from '../../config/schema.ts';
import { html } from '../../http/html.ts';
import type { StandingGrant } from '../grants.ts';
import { type AreaLine, type ConnectedApp, list } from '../pages/connected-app.ts';
import { appsPath, type Carried, disconnectPath } from './target.ts';
import { addUp, type GrantUse } from './usage.ts';
import type { AreaUse } from './use-entry.ts';

/** A member's grants to one app, newest first, and their use. Times are Unix seconds. */
interface AppGrants {
  readonly clientId: string;
  readonly grants: readonly StandingGrant[];
  readonly lastUsedAt: number | undefined;
  readonly areas: ReadonlyMap<string, AreaUse>;
}

/** Titles for the names of areas. */
export interface AreaNames {
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
  /** The titles of tools, by name. */
  readonly tools: ReadonlyMap<string, string>;
}

/** Apps per page. */
const PAGE = 10;
/** The most connections listed for one app. */
const LISTED = 20;

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
export function pageOf(apps: readonly AppGrants[], asked: string | null, carried: Carried) {
  const last = Math.max(1, Math.ceil(apps.length / PAGE));
  const number = Math.min(last, Number(/^[1-9]\d{0,3}$/.exec(asked ?? '')?.[0] ?? 1));
  return {
    shown: apps.slice((number - 1) * PAGE, number * PAGE),
    previous: number > 1 ? appsPath({ ...carried, page: String(number - 1) }) : undefined,
    next: number < last ? appsPath({ ...carried, page: String(number + 1) }) : undefined,
  };
}

/** What the page shows of an app, apart from the app's own metadata. */
export function connectedAppOf(
  { clientId, grants, lastUsedAt, areas }: AppGrants,
  uses: ReadonlyMap<string, GrantUse>,
  names: AreaNames,
  carried: Carried,
): Omit<ConnectedApp, 'app' | 'ownSession'> {
  const ends = grants.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY);
  const end = Math.max(...ends);
  return {
    connections: grants.slice(0, LISTED).map(({ id, grantedAt }) => ({
      connectedAt: grantedAt,
      lastUsedAt: uses.get(id)?.lastUsedAt,
      disconnect: disconnectPath({ kind: 'connection', id }, carried),
    })),
    olderConnections: Math.max(0, grants.length - LISTED),
    scopes: [...new Set(grants.flatMap(({ scopes }) => scopes))].map((token) => names.scopes[token]?.title ?? token),
    connectedAt: grants[0]?.grantedAt ?? 0,
    lastUsedAt,
    endsAt: Number.isFinite(end) ? end : undefined,
    areas: [...areas]
      .map(([area, use]): AreaLine => ({ label: areaLabel(area, names), ...use }))
      .toSorted((a, b) => b.count - a.count || b.last - a.last),
    disconnect: disconnectPath({ kind: 'app', clientId }, carried),
  };
}

/** The label of an area (see `areaOf`), which may have been counted under an earlier configuration. */
export function areaLabel(area: string, { scopes, tools }: AreaNames): AreaLine['label'] {
  const colon = area.indexOf(':');
  const name = area.slice(colon + 1);
  switch (area.slice(0, Math.max(0, colon))) {
    case 'scope':
      return ({ own }) =>
        html`<strong>${list(name.split(' ').map((token) => own(scopes[token]?.title ?? token)))}</strong>`;
    case 'field':
      return (words) => words.html('apps.area.account', { name: html`<strong><bdi>${inWords(name)}</bdi></strong>` });
    case 'tool': {
      const title = tools.get(name) ?? inWords(name);
      return (words) => words.html('apps.area.tool', { name: html`<strong><bdi>${title}</bdi></strong>` });
    }
    case 'route':
      return () => html`<code dir="ltr">${name}</code>`;
    default:
      return (words) => html`<strong>${words.html('apps.area.other')}</strong>`;
  }
}

/** Turns `viewer.enrolledCourses` into `enrolled courses`. */
function inWords(name: string): string {
  const last = name.slice(name.lastIndexOf('.') + 1);
  return last
    .replaceAll('_', ' ')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase();
}
