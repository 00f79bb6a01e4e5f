import { type Html, html } from '../http/html.ts';
import type { ConsolePanel, ConsoleRoute } from './console-route.ts';
import { ROOT } from './frame.ts';

export interface OverviewOptions {
  readonly panels: readonly ConsolePanel[];
  readonly onError: (error: unknown) => void;
}

/** The first page. Each panel fails by itself. */
export function overviewRoute({ panels, onError }: OverviewOptions): ConsoleRoute {
  const shown = async ({ title, render }: ConsolePanel): Promise<Html> => {
    const body = await render().catch((thrown: unknown) => {
      onError(thrown);
      return html`<p class="notice">This cannot be shown right now. The log says why.</p>`;
    });
    return html`<section class="card"><h2>${title}</h2>
${body}</section>`;
  };
  return {
    method: 'GET',
    path: '/',
    run: async () => ({
      section: 'overview',
      title: 'Overview',
      body: html`${searchBox()}
${await Promise.all(panels.map(shown))}`,
    }),
  };
}

function searchBox(): Html {
  return html`<form class="filter" role="search" action="${ROOT}/search">
<input type="search" name="q" aria-label="Member or app" placeholder="Member or app" maxlength="200">
<button>Search</button>
</form>`;
}
