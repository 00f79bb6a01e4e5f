import { type Html, html } from '../../../http/html.ts';
import { unixSeconds } from '../../../storage/store.ts';
import type { ConsolePanel } from '../console-page.ts';
import { registrationPanel } from '../directory/registration-page.ts';
import { pathOf } from '../paths.ts';
import { stoppedAttempts } from '../recorder/attempts-list.ts';
import { explainedAttempts } from '../recorder/explained.ts';
import type { ConsoleSources } from '../sources.ts';
import { trafficPanel } from '../traffic/traffic-page.ts';
import { attention, healthCards } from './health-cards.ts';

const stoppedPanel: ConsolePanel = {
  title: 'Attempts to connect that stopped',
  render: async (sources) => stoppedAttempts(await explainedAttempts(sources), sources),
};
const PANELS: readonly ConsolePanel[] = [trafficPanel, stoppedPanel, registrationPanel];

/** The first page. Each panel fails by itself, so that the page can be read while the store is down. */
export async function overviewPage(sources: ConsoleSources): Promise<{ readonly body: Html }> {
  const { gate, clock, times } = sources;
  const [status, ...panels] = await Promise.all([gate(), ...PANELS.map((panel) => shown(panel, sources))]);
  return {
    body: html`${attention(status, unixSeconds(clock))}
<form class="filter" role="search" action="${pathOf('search')}">
<input type="search" name="q" aria-label="Member or app" placeholder="Member or app" maxlength="200">
<button>Search</button>
</form>
${panels}
${healthCards(status, times)}`,
  };
}

async function shown({ title, render }: ConsolePanel, sources: ConsoleSources): Promise<Html> {
  const body = await render(sources).catch((thrown: unknown) => {
    sources.onError(thrown);
    return html`<p class="notice">This cannot be shown right now. The log says why.</p>`;
  });
  return html`<section class="card"><h2>${title}</h2>
${body}</section>
`;
}
