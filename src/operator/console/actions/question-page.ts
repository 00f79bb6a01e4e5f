import type { OperatorAction } from '../../../actions/action.ts';
import { fillPath } from '../../../actions/fill-path.ts';
import { isUnknown } from '../../../actions/subject.ts';
import { GatewayError } from '../../../errors.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { confirmation } from '../kit/confirmation.ts';
import { ROOT } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { type Asking, contextOf } from './action-context.ts';

/** The question before an action. Throws GatewayError `not_found` for an action that is done without asking. */
export async function questionPage(
  sources: Asking,
  action: OperatorAction,
  { params, csrf }: Pick<ConsoleRequest, 'params' | 'csrf'>,
): Promise<ConsoleAnswer> {
  const { page, ask } = action;
  if (page === undefined || ask === undefined) throw new GatewayError('not_found');
  const [context, sure] = await Promise.all([contextOf(sources, page.path, params), doubtOf(sources, action, params)]);
  const { title, text, warning, danger = true, button = page.button, turnsOn } = ask(context);
  const body = confirmation({
    text: html`${warning !== undefined && html`<p class="notice bad">${warning}</p>`}<p>${text}</p>`,
    ...{ action: ROOT + fillPath(page.path, params), back: ROOT + fillPath(page.back, params), button, danger, csrf },
    fields: turnsOn === undefined ? {} : { [turnsOn]: 'yes' },
    sure,
  });
  return { title, body };
}

/** What the operator has to confirm first, because nothing is known of the id. */
export async function doubtOf(
  { controls }: Sources<'controls'>,
  { ask, subject }: OperatorAction,
  { id = '' }: ConsoleRequest['params'],
): Promise<string | undefined> {
  if (ask === undefined || subject === undefined || !isUnknown(await subject.describe(controls, id))) return undefined;
  return `${subject.unknown([id])} Yes, I mean this ID.`;
}
