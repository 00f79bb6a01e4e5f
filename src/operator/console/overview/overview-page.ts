import { type Html, html } from '../../../http/html.ts';
import { registrationLine } from '../directory/registration-page.ts';
import { pathOf } from '../paths.ts';
import { stoppedAttempts } from '../recorder/attempts-list.ts';
import { explainedAttempts } from '../recorder/explained.ts';
import type { ConsoleSources } from '../sources.ts';
import { readPeriod } from '../traffic/period.ts';
import { gatePanel, upstreamsPanel } from './health-panels.ts';
import { trafficPanel } from './traffic-panel.ts';
import { unusedApps } from './unused-apps.ts';
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
<input type="search" name="q" aria-label="Member or app" placeholder="Find a member or app: name, email address, host or ID" maxlength="200">
<button>Search</button>
${apps}
</form>
${card('Attempts that stopped', attempts && stoppedAttempts(attempts, sources))}
${card('Traffic in the last hour', period && trafficPanel(period, times))}
<div class="cards">
${card('This gate', gatePanel(status, registration, times))}
${card('Upstreams', upstreamsPanel(status, times))}
</div>`,
  };
}

function card(title: string, body: Html | undefined): Html {
  return html`<section class="card"><h2>${title}</h2>
${body ?? html`<p class="notice">This cannot be shown right now. The log says why.</p>`}</section>
`;
}
