import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { countOf, type Group, MINUTE, type Minute, namesIn, requestsIn } from '../../../operations/record/minute.ts';
import type { Times } from '../kit/times.ts';
import { type TrailItem, trailList } from '../kit/trail.ts';
import { formatCount, formatSeconds, responseTimes } from '../traffic/figures.ts';
import { ASKED } from './range.ts';
import type { HistoryMinute } from './read-history.ts';
import type { HistoryRow } from './rows.ts';

interface ListView {
  readonly asked: number | undefined;
  /** Whether only one kind of events is shown, and whether only those of one member or app. */
  readonly isOfKind: boolean;
  readonly isOfOne: boolean;
  /** The current minute, since the epoch. */
  readonly now: number;
  readonly times: Times;
}

/** Minutes with events that are shown, and events of one minute. The rest is counted. */
const MOST_MINUTES = 100;
const MOST_ROWS = 12;
/** The newest minutes whose events are open when no time was asked for. */
const OPEN = 3;

/** Minutes with their events; those in which nothing special happened are joined to one line. */
export function minuteList(minutes: readonly HistoryMinute[], view: ListView): Html {
  const parts: Html[] = [];
  let quiet: HistoryMinute[] = [];
  let shown = 0;
  const endQuiet = () => {
    if (quiet.length > 0 && !view.isOfKind && !view.isOfOne) parts.push(quietLine(quiet, view));
    quiet = [];
  };
  for (const one of minutes) {
    const isAsked = one.at === view.asked;
    if (!isAsked && one.rows.every(({ count }) => count === 0)) {
      if (!isLike(quiet[0], one)) endQuiet();
      quiet.push(one);
      continue;
    }
    endQuiet();
    shown += 1;
    if (shown > MOST_MINUTES) break;
    parts.push(group(one, view, isAsked || view.isOfOne || (view.asked === undefined && shown <= OPEN)));
  }
  endQuiet();
  if (parts.length === 0) return html`<p class="card muted">Nothing of this in this time.</p>`;
  return html`<ol class="minutes">
${parts}</ol>
${shown > MOST_MINUTES && html`<p class="notice">More happened earlier in this time than fits on a page. Choose a time, or one kind.</p>`}`;
}

/** Whether both minutes were measured, or neither. */
function isLike(first: HistoryMinute | undefined, { minute }: HistoryMinute): boolean {
  return first !== undefined && (first.minute === undefined) === (minute === undefined);
}

function quietLine(quiet: readonly HistoryMinute[], { now, times }: ListView): Html {
  const [last, first] = [quiet[0]?.at ?? 0, quiet.at(-1)?.at ?? 0];
  const time = (at: number) => times.time(at * MINUTE);
  const span = first === last ? time(first) : `${time(first)} to ${time(last)}`;
  const sum = quiet.reduce((all, { minute }) => all + (minute === undefined ? 0 : requestsIn(minute)), 0);
  const isMeasured = quiet[0]?.minute !== undefined;
  const said = isMeasured ? 'nothing to report' : first === now ? 'in progress' : 'not measured';
  return html`<li class="muted quiet">${span}: ${said}${sum > 0 && `, ${counted(sum, 'request')}`}</li>
`;
}

function group({ at, minute, rows }: HistoryMinute, { asked, isOfOne, times }: ListView, isOpen: boolean): Html {
  const requests = minute === undefined || isOfOne ? 0 : requestsIn(minute);
  const [first, rest] = [rows.slice(0, MOST_ROWS), rows.slice(MOST_ROWS)];
  const events = (some: readonly HistoryRow[]) => trailList(some.map((row) => itemOf(row, times)));
  return html`<li${at === asked && html` class="asked" id="${ASKED}"`}><details${isOpen && html` open`}><summary><b>${(isOfOne ? times.dayAndTime : times.time)(at * MINUTE)}</b> ${badges(rows)}${requests > 0 && html` <span class="muted">${counted(requests, 'request')}</span>`}</summary>
${events(first)}
${rest.length > 0 && html`<details><summary>And ${rest.length} more</summary>${events(rest)}</details>`}
${minute !== undefined && !isOfOne && html`<p class="muted small">${measured(minute)}</p>`}
${rows.length === 0 && html`<p class="muted">${minute === undefined ? 'This minute was not measured.' : 'Nothing to report.'}</p>`}
</details></li>
`;
}

function badges(rows: readonly HistoryRow[]): readonly Html[] {
  const alike = Map.groupBy(rows, ({ state, noun }) => state ?? noun);
  return [...alike.values()].flatMap((same) => {
    const [{ state, noun, level }] = same as [HistoryRow];
    const count = same.reduce((sum, row) => sum + row.count, 0);
    const text = state ?? counted(count, noun);
    return count === 0 ? [] : [html`<span class="badge ${LEVELS[level]}">${text}</span> `];
  });
}

const LEVELS: Readonly<Record<HistoryRow['level'], string>> = { bad: 'bad', warn: 'warn', plain: '' };

function itemOf({ at, text, about = [], level }: HistoryRow, times: Times): TrailItem {
  return { head: html`${at !== undefined && html`${times.second(at)} `}${text}`, about, look: LEVELS[level] };
}

/** The ordinary figures of a minute. */
function measured(minute: Minute): string {
  const list = (group: Group) =>
    [...namesIn(minute, group)].map(([name, count]) => `${name.replaceAll('_', ' ')} ${formatCount(count)}`).join(', ');
  const [half, most] = responseTimes(minute);
  const signedIn = countOf(minute, 'sign-ins', 'success');
  const parts = {
    Requests: list('requests'),
    Responses: list('statuses'),
    'Response time': half === undefined ? '' : `p50 ${formatSeconds(half)}, p99 ${formatSeconds(most)}`,
    'In progress at its end': list('open'),
    'Sign-ins': signedIn === 0 ? '' : formatCount(signedIn),
    'Tokens issued': list('tokens'),
    Consent: list('consents'),
  };
  return Object.entries(parts)
    .flatMap(([name, text]) => (text === '' ? [] : [`${name}: ${text}.`]))
    .join(' ');
}
