import type { ActionPage, OperatorAction } from '../../../actions/action.ts';
import { fillPath } from '../../../actions/fill-path.ts';
import { ACTIONS } from '../../../actions/table.ts';
import { GatewayError } from '../../../errors.ts';
import type { ConsoleAnswer, ConsolePage, ConsoleRequest } from '../console-page.ts';
import { reread } from '../directory/reread.ts';
import { isConsolePath, ROOT } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { type Asking, contextOf } from './action-context.ts';
import { finishedSoon } from './finished-soon.ts';
import { doubtOf, questionPage } from './question-page.ts';

/** The forms of all actions that the console offers, and the questions before them. */
export const ACTION_PAGES: readonly ConsolePage[] = ACTIONS.flatMap((action) => {
  const { page, ask } = action;
  if (page === undefined) return [];
  return {
    path: page.path,
    title: page.button,
    under: listOf(page),
    show: ask && ((sources, request) => questionPage(sources, action, request)),
    submit: (sources, request) => perform(sources, action, page, request),
  } satisfies ConsolePage;
});

/** `/apps` for a page of one app. */
function listOf({ back }: ActionPage): string {
  return `/${back.split('/')[1]}`;
}

async function perform(
  sources: Asking & Sources<'onError'>,
  action: OperatorAction,
  page: ActionPage,
  request: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { params, form, decision } = request;
  if (form.sure !== 'yes' && (await doubtOf(sources, action, params)) !== undefined)
    return { see: ROOT + fillPath(page.path, params), done: 'Nothing was changed: confirm that you mean this ID.' };
  const context = await contextOf(sources, page.path, params);
  const { id = '', client } = params;
  const switches = Object.keys(action.switches ?? {}).filter((name) => form[name] === 'yes');
  const body = Object.fromEntries(switches.map((name) => [name, true]));
  const work = action.run(sources.controls, { id, client, body, decision }).then(async (reply) => {
    await reread(sources, action.touches?.(reply) ?? action.subject?.grants(id));
    return action.done?.(reply, context);
  });
  try {
    const done = await finishedSoon(work, sources.onError);
    const back = ROOT + fillPath(page.back, params);
    return {
      see: isConsolePath(back) ? back : ROOT + listOf(page),
      done: done ?? 'In progress: it takes longer than usual.',
    };
  } catch (thrown) {
    // Something has changed since the question was asked, such as the keys.
    if (action.ask !== undefined && thrown instanceof GatewayError && thrown.code === 'conflict')
      return questionPage(sources, action, request);
    throw thrown;
  }
}
