import { isChange, partsOf } from '../../../authorization-server/connected-apps/areas.ts';
import type { GrantUse } from '../../../authorization-server/connected-apps/usage.ts';
import { type Html, html } from '../../../http/html.ts';
import { type Column, listTable } from '../kit/table.ts';
import type { Sources } from '../sources.ts';
import { changeColumn, countColumn } from './columns.ts';
import { scopeTitle } from './scopes.ts';

/** The most areas that are shown: those used last. */
const MOST = 25;
const DAY = 86_400_000;

interface Area {
  readonly area: string;
  readonly count: number;
  readonly last: number;
  readonly grants: number;
}

/** What was done with these grants in the last 30 days, how often, and when: in all and by day. */
export function usesTable(sources: Sources<'scopes' | 'times' | 'tools'>, uses: readonly GrantUse[]): Html {
  const { times } = sources;
  const areas = areasOf(uses.map((use) => use.areas));
  if (areas.length === 0) return html`<p class="muted">Nothing.</p>`;
  const columns: readonly Column<Area>[] = [
    { title: 'What', cell: ({ area }) => areaText(sources, area) },
    changeColumn(({ area }) => isChange(area, sources)),
    countColumn('Times', ({ count }) => count),
    ...(uses.length > 1 ? [countColumn('Grants', ({ grants }: Area) => grants)] : []),
    { ...{ title: 'Last', phone: 'Last' }, cell: ({ last }) => times.dayAndTime(last * 1000) },
  ];
  const days = uses.flatMap((use) => [...use.days].map(([day, ofDay]) => ({ day, areas: ofDay })));
  const byDay = [...Map.groupBy(days, ({ day }) => day)].toSorted(([a], [b]) => b - a);
  const ofDays: readonly Column<(typeof byDay)[number]>[] = [
    { title: 'Day (UTC)', cell: ([day]) => times.date((day + 0.5) * DAY) },
    ...(uses.length > 1 ? [countColumn('Grants', ([, ofDay]: (typeof byDay)[number]) => ofDay.length)] : []),
    {
      ...{ title: 'What, and how often', isWide: true },
      cell: ([, ofDay]) =>
        areasOf(ofDay.map((one) => one.areas))
          .map(({ area, count }) => `${areaText(sources, area)} ${count.toLocaleString('en')}×`)
          .join(', '),
    },
  ];
  return html`${listTable({ label: 'By kind', columns, rows: areas.slice(0, MOST) })}
<details><summary>By day</summary>
${listTable({ label: 'By day', columns: ofDays, rows: byDay })}</details>`;
}

/** Added up, the area that was used last first. */
function areasOf(uses: readonly GrantUse['areas'][]): readonly Area[] {
  const byArea = Map.groupBy(
    uses.flatMap((areas) => [...areas]),
    ([area]) => area,
  );
  const sums = [...byArea].map(([area, all]) => ({
    area,
    count: all.reduce((sum, [, { count }]) => sum + count, 0),
    last: Math.max(...all.map(([, { last }]) => last)),
    grants: all.length,
  }));
  return sums.toSorted((a, b) => b.last - a.last);
}

/** What was used, as `areaOf` has counted it. */
function areaText({ scopes, tools }: Sources<'scopes' | 'tools'>, area: string): string {
  const [kind, name] = partsOf(area);
  switch (kind) {
    case 'scope':
      return name
        .split(' ')
        .map((token) => scopeTitle(scopes, token))
        .join(', ');
    case 'field':
    case 'change':
      return `Account API: ${name}`;
    case 'tool':
      return `Tool: ${tools.get(name)?.title ?? name}`;
    case 'approval':
      return `Approval ${name}`;
    case 'route':
      return name;
    default:
      return 'Other';
  }
}
