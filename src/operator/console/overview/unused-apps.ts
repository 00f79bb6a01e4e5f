import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { unixSeconds } from '../../../storage/store.ts';
import { appUses } from '../directory/app-use.ts';
import { usedLike } from '../directory/filters.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { Sources } from '../sources.ts';

/** Days without use after which an app that can change data is counted. */
const UNUSED = { power: 'change', unused: '30' };

/** How many apps may do more than they need: a link to them. */
export async function unusedApps({
  clock,
  directory,
  scopes,
}: Sources<'clock' | 'directory' | 'scopes'>): Promise<Html> {
  const view = await directory.look();
  const uses = view.state === 'ready' ? await appUses(view.rows, scopes) : undefined;
  const isUnused = usedLike(UNUSED, unixSeconds(clock));
  const unused = uses && [...uses.values()].filter(isUnused).length;
  const text =
    unused === undefined
      ? 'Apps that can change data and are not used'
      : `${unused === 0 ? 'No app' : counted(unused, 'app')} can change data and ${unused === 1 || unused === 0 ? 'has' : 'have'} not been used for ${UNUSED.unused} days`;
  return html`<a href="${withQuery(pathOf('apps'), UNUSED)}">${text}</a>`;
}
