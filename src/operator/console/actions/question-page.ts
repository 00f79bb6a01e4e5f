import type { OperatorAction } from '../../../actions/action.ts';
import { fillPath } from '../../../actions/fill-path.ts';
import { isUnknown } from '../../../actions/subject.ts';
import { GatewayError } from '../../../errors.ts';
import { html } from '../../../http/html.ts';
import { confirmation } from '../confirmation.ts';
import type { ConsoleAnswer, ConsoleRequest, Section } from '../console-route.ts';
import type { DirectoryDeps } from '../directory/deps.ts';
import { ROOT } from '../frame.ts';
import { contextOf } from './action-context.ts';

type Params = ConsoleRequest['params'];

/** The question before an action. Throws GatewayError `not_found` for an action that is done without asking. */
export async function questionPage(
  deps: DirectoryDeps,
  action: OperatorAction,
  { params, csrf }: Pick<ConsoleRequest, 'params' | 'csrf'>,
): Promise<ConsoleAnswer> {
  const { page } = action;
  const asked = action.ask?.(await contextOf(deps, action, params));
  if (page === undefined || asked === undefined) throw new GatewayError('not_found');
  const { title, text, warning, danger = true, button = page.button, turnsOn } = asked;
  const body = confirmation({
    text: html`${warning !== undefined && html`<p class="notice bad">${warning}</p>`}<p>${text}</p>`,
    ...{ action: ROOT + fillPath(page.path, params), back: ROOT + fillPath(page.back, params), button, danger, csrf },
    ...(turnsOn !== undefined && { fields: { [turnsOn]: 'yes' } }),
    sure: await doubtOf(deps, action, params),
  });
  return { section: sectionOf(page.back), title, body };
}

/** What the operator has to confirm first, because nothing is known of the id. */
export async function doubtOf(
  { controls }: DirectoryDeps,
  { ask, subject }: OperatorAction,
  { id = '' }: Params,
): Promise<string | undefined> {
  if (ask === undefined || subject === undefined || !isUnknown(await subject.describe(controls, id))) return undefined;
  return `${subject.unknown([id])} Yes, I mean this ID.`;
}

/** The first part of a path below /console. */
export function sectionOf(path: string): Section {
  return path.split('/')[1] as Section;
}
