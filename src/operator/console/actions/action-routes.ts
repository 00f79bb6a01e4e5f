import type { ActionPage, OperatorAction } from '../../../actions/action.ts';
import { fillPath } from '../../../actions/fill-path.ts';
import { ACTIONS } from '../../../actions/table.ts';
import { GatewayError } from '../../../errors.ts';
import { isConsolePath } from '../access.ts';
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import type { DirectoryDeps } from '../directory/deps.ts';
import { reread } from '../directory/reread.ts';
import { ROOT } from '../frame.ts';
import { contextOf } from './action-context.ts';
import { finishedSoon } from './finished-soon.ts';
import { doubtOf, questionPage, sectionOf } from './question-page.ts';

/** The forms of all actions that the console offers, and the questions before them. */
export function actionRoutes(deps: DirectoryDeps): readonly ConsoleRoute[] {
  return ACTIONS.flatMap((action): ConsoleRoute[] => {
    const { page, ask } = action;
    if (page === undefined) return [];
    const { path } = page;
    const post: ConsoleRoute = { method: 'POST', path, run: (request) => perform(deps, action, page, request) };
    if (ask === undefined) return [post];
    return [{ method: 'GET', path, run: (request) => questionPage(deps, action, request) }, post];
  });
}

async function perform(
  deps: DirectoryDeps,
  action: OperatorAction,
  page: ActionPage,
  request: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { params, form, decision } = request;
  if (form.sure !== 'yes' && (await doubtOf(deps, action, params)) !== undefined)
    return { see: ROOT + fillPath(page.path, params), done: 'Nothing was changed: confirm that you mean this ID.' };
  const section = sectionOf(page.back);
  const context = await contextOf(deps, section, params);
  const { id = '', client } = params;
  const switches = Object.keys(action.switches ?? {}).filter((name) => form[name] === 'yes');
  const body = Object.fromEntries(switches.map((name) => [name, true]));
  const work = action.run(deps.controls, { id, client, body, decision }).then(async (reply) => {
    await reread(deps, action.touches?.(reply) ?? action.subject?.grants(id));
    return action.done?.(reply, context);
  });
  try {
    const done = await finishedSoon(work, deps.onError);
    const back = ROOT + fillPath(page.back, params);
    return {
      see: isConsolePath(back) ? back : `${ROOT}/${section}`,
      done: done ?? 'In progress: it takes longer than usual.',
    };
  } catch (thrown) {
    // Something has changed since the question was asked, such as the keys.
    if (action.ask !== undefined && thrown instanceof GatewayError && thrown.code === 'conflict')
      return questionPage(deps, action, request);
    throw thrown;
  }
}
