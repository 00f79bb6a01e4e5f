import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { confirmation } from '../kit/confirmation.ts';
import { choices } from '../kit/filters.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { switchedOff } from './observe-page.ts';
import type { ChangedLines, Draft, NotWritten } from './proposal.ts';

const OBSERVE = pathOf('observe');
const ACCEPT = pathOf('observe', 'accept');

/** What would be written to the configuration file. */
export async function acceptPage(
  { proposals, configuration }: ConsoleSources,
  { query, csrf }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  if (proposals === undefined) return switchedOff();
  const enforces = query.enforce === 'yes';
  const drafted = await proposals.draft(enforces);
  return { body: draftView(drafted, enforces, configuration.loaded.file, csrf) };
}

/** Writes what was shown. */
export async function acceptRoutes(
  { proposals, configuration, controls }: ConsoleSources,
  { form, decision }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  if (proposals === undefined) return switchedOff();
  const accepted = await proposals.accept(form.draft ?? '');
  if ('refused' in accepted) return { title: 'Nothing was written', body: refusal(accepted) };
  controls.audit({ action: 'routes_accepted', ...decision });
  const { config, file } = configuration.loaded;
  const loads = config.reload.watch ? 'The gate loads it now.' : 'Send SIGHUP to the gate to load it.';
  return { see: OBSERVE, done: `${counted(accepted.routes.length, 'route')} written to ${file}. ${loads}` };
}

function draftView(drafted: Draft | NotWritten, enforces: boolean, file: string, csrf: string): Html {
  const choice = choices('What to write', [
    { href: ACCEPT, text: 'Go on observing', chosen: !enforces },
    { href: withQuery(ACCEPT, { enforce: 'yes' }), text: 'Enforce the routes', chosen: enforces },
  ]);
  if ('refused' in drafted) return html`${choice}${refusal(drafted)}`;
  const { changes, warnings, id, routes } = drafted;
  return html`${choice}
<p>${
    enforces
      ? 'Observe mode ends: from now on, requests that the routes refuse are refused.'
      : 'The gate goes on observing with the new routes. Look at what they would refuse before you enforce them.'
  }</p>
<p>The file <code>${file}</code> is changed as follows. The result has been checked. Routes that stay keep their comments.</p>
<div class="diff" tabindex="0" role="region" aria-label="Changes">${changes.map(changedLines)}</div>
${warnings.length > 0 && html`<h2>Warnings</h2><ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}
${confirmation({
  csrf,
  action: ACCEPT,
  back: OBSERVE,
  button: `Write ${counted(routes.length, 'route')}${enforces ? ' and enforce them' : ''}`,
  danger: enforces,
  fields: { draft: id },
})}`;
}

/** Lines that stay are not shown: they may be beside secrets. */
function changedLines({ kind, lines }: ChangedLines): Html {
  if (kind === 'kept') return html`<p class="kept">${counted(lines.length, 'line')} unchanged</p>`;
  return html`${lines.map((line) =>
    kind === 'added'
      ? html`<p><ins><span aria-hidden="true">+ </span>${line}</ins></p>`
      : html`<p><del><span aria-hidden="true">− </span>${line}</del></p>`,
  )}`;
}

function refusal({ refused, problems = [] }: NotWritten): Html {
  return html`<p class="notice bad">${refused}</p>
${problems.length > 0 && html`<pre class="code" tabindex="0" role="region" aria-label="Problems">${problems.join('\n')}</pre>`}
<p><a href="${OBSERVE}">Back to observe mode</a></p>`;
}
