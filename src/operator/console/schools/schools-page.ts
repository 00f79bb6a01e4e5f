import { GatewayError, invalidRequest } from '../../../errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { folded } from '../../../http/visible-text.ts';
import type { Health } from '../../../operations/health.ts';
import type { ConsoleAnswer, ConsolePage, ConsoleRequest } from '../console-page.ts';
import { shownRows } from '../directory/list-rows.ts';
import { facts } from '../kit/facts.ts';
import { filterLinks, searchForm } from '../kit/filters.ts';
import type { Column } from '../kit/table.ts';
import { stateText } from '../overview/state-concerns.ts';
import { pathOf, ROOT } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';

/** One school of the process, as it is without opening it. */
export interface SchoolRow {
  /** Its name. */
  readonly id: string;
  /** Undefined if its file cannot be read. */
  readonly origin: string | undefined;
  readonly state: 'open' | 'idle' | 'moved' | 'refused';
  /** Whether there is a configuration to serve, maybe an older one than its file has. */
  readonly isServed: boolean;
  /** Mistakes in its file, each with file, line and column, and what does not work. */
  readonly problems: readonly string[];
}

export interface SchoolsSources extends Pick<ConsoleSources, 'school' | 'onError'> {
  readonly schools: () => readonly SchoolRow[];
  readonly health: () => Promise<Health>;
  /** Where the operator signs in to the console of a school. */
  readonly entranceOf: (name: string) => string;
}

export const SCHOOLS_PAGES: readonly ConsolePage<SchoolsSources>[] = [
  { path: '/', title: 'Schools', entry: 'Schools', show: schoolsPage },
  { path: '/schools/:name', title: 'School', under: '/', show: enterSchool },
];

const STATES = [
  ['', 'All'],
  ['problems', 'With problems'],
  ['open', 'Open'],
  ['idle', 'Idle'],
  ['moved', 'Moved'],
  ['refused', 'Refused'],
] as const;

async function schoolsPage({ schools, health }: SchoolsSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q = '', state = '' } = query;
  if (!STATES.some(([value]) => value === state)) throw invalidRequest('“state” is none that this page links to.');
  const typed = folded(q);
  const all = schools();
  const isOf = (row: SchoolRow) =>
    state === '' || (state === 'problems' ? row.problems.length > 0 : row.state === state);
  const list = await shownRows(all, query, {
    path: ROOT,
    noun: 'school',
    keep: (row) => folded(`${row.id} ${row.origin ?? ''}`).includes(typed) && isOf(row),
    columns: COLUMNS,
    usual: { key: ({ problems }) => (problems.length > 0 ? 0 : 1) },
  });
  const store = (await health()).checks.find(({ name }) => name === 'store');
  const count = (of: string) => all.filter((row) => row.state === of).length;
  const counts = Object.keys(LOOKS).flatMap((of) => (count(of) > 0 ? `${count(of).toLocaleString('en')} ${of}` : []));
  const body = html`${facts([
    [
      'Store',
      store &&
        html`${stateText(`store ${store.detail}`) ?? store.detail} ${store.ok ? badge('good', 'working') : badge('bad', 'failing')}`,
    ],
    ['Schools', counts.join(', ')],
  ])}
<div class="picks">${filterLinks({ label: 'State', name: 'state', options: STATES, path: ROOT, query })}</div>
${searchForm('Part of a name or address', query, ['state'])}
${list}
<p class="muted small">An idle school is opened by its next request. The store is that of all schools.</p>`;
  return { body };
}

/** Leads to the console of a school, which has its own sessions. */
async function enterSchool(
  { schools, entranceOf }: SchoolsSources,
  { params }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const found = schools().find(({ id, isServed }) => id === params.name && isServed);
  if (found === undefined) throw new GatewayError('not_found', { message: 'No school of this name is served.' });
  return { leave: entranceOf(found.id) };
}

const badge = (look: string, text: string): Html => html`<span class="badge ${look}">${text}</span>`;
const LOOKS = { open: 'good', idle: '', moved: '', refused: 'bad' } as const;
/** Problems of a school that are listed. */
const MOST = 3;

const COLUMNS: readonly Column<SchoolRow>[] = [
  {
    title: 'School',
    cell: ({ id, isServed }) => (isServed ? html`<a class="name" href="${pathOf('schools', id)}">${id}</a>` : id),
    sort: { name: 'name', key: ({ id }) => id },
  },
  { title: 'Address', cell: ({ origin }) => origin, sort: { name: 'address', key: ({ origin = '' }) => origin } },
  {
    title: 'State',
    cell: ({ state }) => badge(LOOKS[state], state),
    sort: { name: 'state', key: ({ state }) => state },
  },
  {
    title: 'Problems',
    isWide: true,
    cell: ({ state, isServed, problems }) =>
      problems.length > 0 &&
      html`${problems.slice(0, MOST).map((text) => html`<div>${text}</div>`)}${
        problems.length > MOST && html`<div>… and ${problems.length - MOST} more</div>`
      }${state === 'refused' && html`<div class="muted">${isServed ? 'Its last valid configuration is still served.' : 'It is not served.'}</div>`}`,
  },
];
