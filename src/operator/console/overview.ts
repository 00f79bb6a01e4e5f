import { type Html, html } from '../../http/html.ts';
import { type Clock, unixSeconds } from '../../storage/store.ts';
import type { ConsolePanel, ConsoleRoute } from './console-route.ts';
import { ROOT } from './frame.ts';
import { type GateSources, gateStatus } from './gate-status.ts';
import { attention, healthCards } from './health-panels.ts';
import type { Times } from './times.ts';

export interface OverviewOptions {
  readonly gate: GateSources;
  readonly times: Times;
  readonly panels: readonly ConsolePanel[];
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The first page. Each panel fails by itself, so that the page can be read while the store is down. */
export function overviewRoute({ gate, times, panels, clock, onError }: OverviewOptions): ConsoleRoute {
  const shown = async ({ title, render }: ConsolePanel): Promise<Html> => {
    const body = await render().catch((thrown: unknown) => {
      onError(thrown);
      return html`<p class="notice">This cannot be shown right now. The log says why.</p>`;
    });
    return html`<section class="card"><h2>${title}</h2>
${body}</section>
`;
  };
  const health = async () => {
    const status = await gateStatus(gate);
    const now = unixSeconds(clock);
    return { first: attention(status, now), cards: healthCards(status, times) };
  };
  return {
    method: 'GET',
    path: '/',
    async run() {
      const [{ first, cards }, others] = await Promise.all([health(), Promise.all(panels.map(shown))]);
      return {
        section: 'overview',
        title: 'Overview',
        body: html`${first}
${searchBox()}
${others}
${cards}`,
      };
    },
  };
}

function searchBox(): Html {
  return html`<form class="filter" role="search" action="${ROOT}/search">
<input type="search" name="q" aria-label="Member or app" placeholder="Member or app" maxlength="200">
<button>Search</button>
</form>`;
}
