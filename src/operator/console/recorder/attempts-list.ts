import { type Html, html } from '../../../http/html.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import { nameColumn } from '../directory/columns.ts';
import { memberLink } from '../kit/links.ts';
import { type Column, listTable } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { Sources } from '../sources.ts';
import type { Explained } from './explained.ts';
import type { State } from './state.ts';
import { kindName, STATES } from './words.ts';

const ON_FIRST_PAGE = 3;

/** The latest attempts of apps that stopped, for the first page. Requests that name no app are often a scanner's. */
export function stoppedAttempts(all: readonly Explained[], { times }: Sources<'times'>): Html {
  const stopped = all.filter(({ state }) => state === 'stopped');
  if (stopped.length === 0) return html`<p class="muted">None in the last 24 hours.</p>`;
  const ofApps = stopped.filter(({ app }) => app !== undefined);
  const unknown = stopped.length - ofApps.length;
  return html`${ofApps.length > 0 && attemptsTable(ofApps.slice(0, ON_FIRST_PAGE), times)}
<p class="more"><a href="${pathOf('connections')}?state=stopped">All that stopped (${stopped.length})</a>${unknown > 0 && html` <span class="muted">${unknown} of them named no app.</span>`}</p>`;
}

const BADGES: Readonly<Record<State, string>> = { open: 'warn', connected: 'good', stopped: 'bad', ended: '' };

export function badge(state: State): Html {
  return html`<span class="badge ${BADGES[state]}">${STATES[state]}</span>`;
}

/** One line for each attempt. */
export function attemptsTable(shown: readonly Explained[], times: Times): Html {
  return listTable({ label: 'Attempts to connect', columns: columnsOf(times), rows: shown });
}

function columnsOf(times: Times): readonly Column<Explained>[] {
  return [
    nameColumn('App', ({ attempt, name }) => [pathOf('connections', attempt.id), name]),
    { title: 'State', cell: ({ state }) => badge(state) },
    {
      title: 'Cause',
      cell: ({ why, state, at }) =>
        why === undefined ? state === 'open' && kindName(at.kind) : html`<span class="cause">${why.title}</span>`,
    },
    {
      title: 'Member',
      cell: ({ member }) =>
        member &&
        html`${memberLink(member)}${member.name !== member.id && html` <span class="muted">${member.id}</span>`}`,
    },
    {
      title: 'Last step',
      cell: ({ attempt }) => {
        const { at } = lastOf(attempt);
        return html`<span class="when">${times.dayAndTime(at)} <span class="muted">${times.ago(at)}</span></span>`;
      },
    },
  ];
}
