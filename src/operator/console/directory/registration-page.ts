import { REGISTRATION_ACTIONS } from '../../../actions/registration.ts';
import { type Html, html } from '../../../http/html.ts';
import { questionPage } from '../actions/question-page.ts';
import type { ConsoleAnswer, ConsolePanel, ConsoleRequest } from '../console-route.ts';
import type { DirectoryDeps } from './deps.ts';
import { pathOf } from './paths.ts';

/** Whether new apps are accepted, with a link to change that. */
export async function registrationLine(deps: DirectoryDeps): Promise<Html> {
  if (!deps.takesNewApps)
    return html`<p>New apps are not accepted: the configuration switches registration and client ID metadata documents off.</p>`;
  const since = await deps.controls.account.registrationClosedSince();
  if (since === undefined)
    return html`<p><span class="badge good">open</span> New apps can connect. <a href="${pathOf('registration')}">Close registration…</a></p>`;
  return html`<p><span class="badge warn">closed</span> New apps are refused since ${deps.times.moment(since * 1000)}. <a href="${pathOf('registration')}">Open registration…</a></p>`;
}

/** For the first page, from which most searches begin. */
export function registrationPanel(deps: DirectoryDeps): ConsolePanel {
  const render = () => {
    deps.directory.prepare();
    return registrationLine(deps);
  };
  return { title: 'New apps', render };
}

export async function registrationPage(deps: DirectoryDeps, request: ConsoleRequest): Promise<ConsoleAnswer> {
  const since = await deps.controls.account.registrationClosedSince();
  return questionPage(deps, since === undefined ? REGISTRATION_ACTIONS.close : REGISTRATION_ACTIONS.open, request);
}
