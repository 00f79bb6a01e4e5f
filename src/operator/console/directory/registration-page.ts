import { REGISTRATION_ACTIONS } from '../../../actions/registration.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Asking } from '../actions/action-context.ts';
import { questionPage } from '../actions/question-page.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { pathOf } from '../paths.ts';
import type { Sources } from '../sources.ts';

/** Whether new apps are accepted, with a link to change that. */
export async function registrationLine(sources: Sources<'controls' | 'takesNewApps' | 'times'>): Promise<Html> {
  const { controls, takesNewApps, times } = sources;
  if (!takesNewApps)
    return html`<p>New apps are not accepted: the configuration switches registration and client ID metadata documents off.</p>`;
  const since = await controls.account.registrationClosedSince();
  if (since === undefined)
    return html`<p><span class="badge good">open</span> New apps can connect. <a href="${pathOf('registration')}">Close registration…</a></p>`;
  return html`<p><span class="badge warn">closed</span> New apps are refused since ${times.moment(since * 1000)}. <a href="${pathOf('registration')}">Open registration…</a></p>`;
}

export async function registrationPage(sources: Asking, request: ConsoleRequest): Promise<ConsoleAnswer> {
  const since = await sources.controls.account.registrationClosedSince();
  return questionPage(sources, since === undefined ? REGISTRATION_ACTIONS.close : REGISTRATION_ACTIONS.open, request);
}
