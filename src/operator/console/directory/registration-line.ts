import { type Html, html } from '../../../http/html.ts';
import { pathOf } from '../paths.ts';
import type { Sources } from '../sources.ts';

/** Whether new apps are accepted, with a link to change that. */
export async function registrationLine(sources: Sources<'controls' | 'takesNewApps' | 'times'>): Promise<Html> {
  const { controls, takesNewApps, times } = sources;
  if (!takesNewApps)
    return html`<p>New apps are not accepted: the configuration switches registration and client ID metadata documents off.</p>`;
  const since = await controls.account.registrationClosedSince();
  if (since === undefined)
    return html`<p><span class="badge good">open</span> New apps can connect. <a href="${pathOf('registration', 'close')}">Close registration…</a></p>`;
  return html`<p><span class="badge warn">closed</span> New apps are refused since ${times.moment(since * 1000)}. <a href="${pathOf('registration', 'open')}">Open registration…</a></p>`;
}
