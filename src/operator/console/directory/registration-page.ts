import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsolePanel, ConsoleRequest } from '../console-route.ts';
import { confirmation } from './confirm.ts';
import type { DirectoryDeps } from './deps.ts';
import { pathOf } from './paths.ts';

/** Whether new apps are accepted, with a link to change that. */
export async function registrationLine(deps: DirectoryDeps): Promise<Html> {
  if (!deps.takesNewApps)
    return html`<p>New apps are not accepted: the configuration switches registration and client ID metadata documents off.</p>`;
  const since = await deps.account.registrationClosedSince();
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

export async function registrationPage(deps: DirectoryDeps, { csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const since = await deps.account.registrationClosedSince();
  const back = pathOf('apps');
  const body =
    since === undefined
      ? confirmation({
          text: html`<p>Apps that are new here will be refused, whether they register or have a client ID metadata document. Apps that are registered or connected already keep working. It holds for all replicas and across restarts, until you open registration again.</p>`,
          ...{ action: pathOf('registration', 'close'), button: 'Close registration', danger: true, csrf, back },
        })
      : confirmation({
          text: html`<p>Registration is closed since ${deps.times.both(since * 1000)}. When you open it, new apps can connect again.</p>`,
          ...{ action: pathOf('registration', 'open'), button: 'Open registration', csrf, back },
        });
  return { section: 'apps', title: since === undefined ? 'Close registration?' : 'Open registration?', body };
}
