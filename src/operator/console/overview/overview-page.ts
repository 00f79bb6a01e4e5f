import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { unixSeconds } from '../../../storage/store.ts';
import { appUses } from '../directory/app-use.ts';
import { usedLike } from '../directory/filters.ts';
import { registrationLine } from '../directory/registration-line.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, withQuery } from '../paths.ts';
import { stoppedAttempts } from '../recorder/attempts-list.ts';
import { explainedAttempts } from '../recorder/explained.ts';
import type { ConsoleSources } from '../sources.ts';
import { axisOf, renderFigure } from '../traffic/figure.ts';
import { allFigures } from '../traffic/figures.ts';
import { type Period, readPeriod } from '../traffic/period.ts';
import { DAY, HOUR, isEmpty, nothingYet, notices, totals } from '../traffic/traffic-page.ts';
import { gatePanel, upstreamsPanel } from './health-panels.ts';
import { verdict } from './verdict.ts';

/** The first page. What cannot be read is missing by itself, so that the page can be read while the store is down. */
export async function overviewPage(sources: ConsoleSources): Promise<{ readonly body: Html }> {
  const { gate, clock, times, traffic, onError } = sources;
  const tried = <T>(reading: Promise<T>): Promise<T | undefined> =>
    reading.catch((thrown: unknown) => {
      onError(thrown);
      return undefined;
    });
  const [status, period, attempts, apps, registration] = await Promise.all([
    gate(),
    tried(readPeriod(traffic, 'hour', clock())),
    tried(explainedAttempts(sources)),
    tried(unusedApps(sources)),
    tried(registrationLine(sources)),
  ]);
  return {
    body: html`${verdict({ status, period, attempts }, times, clock())}
<form class="filter" role="search" action="${pathOf('search')}">
<input type="search" name="q" aria-label="Member or app" placeholder="Member or app" maxlength="200">
<button>Search</button>
${apps}
</form>
${card('Attempts that stopped', attempts && stoppedAttempts(attempts, sources))}
${card('Traffic in the last hour', period && trafficPanel(period, times))}
<div class="cards">
${card('This gate', gatePanel(status, registration, times))}
${card('Upstreams', upstreamsPanel(status, times), 'upstreams')}
</div>`,
  };
}

function card(title: string, body: Html | undefined, id?: string): Html {
  return html`<section class="card"${id && html` id="${id}"`}><h2>${title}</h2>
${body ?? html`<p class="notice">This cannot be shown right now. The log says why.</p>`}</section>
`;
}

/** Days without use after which an app that can change data is counted. */
const UNUSED = { power: 'change', unused: '30' };

/** How many apps may do more than they need: a link to them. */
async function unusedApps({ clock, directory, scopes }: ConsoleSources): Promise<Html | undefined> {
  const view = await directory.look();
  if (view.state === 'ready' && view.rows.partial) return undefined;
  const uses = view.state === 'ready' ? await appUses(view.rows, scopes) : undefined;
  const count = uses && [...uses.values()].filter(usedLike(UNUSED, unixSeconds(clock))).length;
  const text =
    count === undefined
      ? 'Apps that can change data and are not used'
      : `${count === 0 ? 'No app' : counted(count, 'app')} can change data and ${count > 1 ? 'have' : 'has'} not been used for ${UNUSED.unused} days`;
  return html`<a href="${withQuery(pathOf('apps'), UNUSED)}">${text}</a>`;
}

/** The figures that say most. */
const SHOWN: readonly string[] = ['requests', 'durations', 'refusals'];
/** The fewest minutes of a chart: a gate that has just started has measured no more. */
const FEWEST = 10;

/** The last hour in little room. */
function trafficPanel(period: Period, times: Times): Html {
  if (isEmpty(period)) return nothingYet('hour');
  const first = period.slots.findIndex(({ minute }) => minute !== undefined);
  const measured = { ...period, slots: period.slots.slice(Math.min(first, period.slots.length - FEWEST)) };
  const figures = allFigures(measured).filter(({ id }) => SHOWN.includes(id));
  return html`${notices(period)}${totals(period)}
<div class="figures">${figures.map((one) => renderFigure(one, axisOf(measured, times)))}</div>
<p class="more"><a href="${HOUR}">All charts</a> · <a href="${DAY}">Last 24 hours</a></p>`;
}
