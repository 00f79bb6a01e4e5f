import { storedMembers } from '../../../authorization-server/members.ts';
import { html } from '../../../http/html.ts';
import { isConsolePath } from '../access.ts';
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import { ACTIONS, type OperatorAction, type Params } from './action-table.ts';
import { confirmation } from './confirm.ts';
import type { DirectoryDeps } from './deps.ts';
import { finishedSoon } from './finished-soon.ts';
import { pathOf } from './paths.ts';

export function actionRoutes(deps: DirectoryDeps): readonly ConsoleRoute[] {
  return ACTIONS.flatMap((action): ConsoleRoute[] => {
    const { path, ask } = action;
    const post: ConsoleRoute = { method: 'POST', path, run: (request) => perform(deps, action, request) };
    if (ask === undefined) return [post];
    return [{ method: 'GET', path, run: (request) => question(deps, action, request) }, post];
  });
}

async function question(
  deps: DirectoryDeps,
  action: OperatorAction,
  { params, csrf }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const asked = await action.ask?.(deps, params);
  const unsure = await isUnknown(deps, action, params);
  const body = confirmation({
    ...{ text: asked?.text ?? html``, action: ownPath(action, params), button: action.button, danger: true, csrf },
    back: action.back(params),
    sure: unsure ? 'No member with this ID has signed in for an app. Yes, I mean this ID.' : undefined,
  });
  return { section: action.section, title: asked?.title ?? '', body };
}

async function perform(deps: DirectoryDeps, action: OperatorAction, request: ConsoleRequest): Promise<ConsoleAnswer> {
  const { params, form } = request;
  if (form.sure !== 'yes' && (await isUnknown(deps, action, params)))
    return { see: ownPath(action, params), done: 'Nothing was changed: confirm that you mean this ID.' };
  const work = action.run(deps, request).then((done) => {
    deps.directory.correct((rows) => action.correct(rows, params));
    return done;
  });
  const done = await finishedSoon(work, deps.onError);
  const back = action.back(params);
  return {
    see: isConsolePath(back) ? back : pathOf(action.section),
    done: done ?? 'In progress: it takes longer than usual.',
  };
}

/** Whether the action is on a member of whom the gate knows nothing: probably a typing error. */
async function isUnknown({ store }: DirectoryDeps, { member }: OperatorAction, params: Params): Promise<boolean> {
  return member !== undefined && (await storedMembers(store).find(member(params))) === undefined;
}

function ownPath({ path }: OperatorAction, params: Params): string {
  return pathOf(
    ...path
      .slice(1)
      .split('/')
      .map((part) => (part.startsWith(':') ? (params[part.slice(1)] ?? '') : part)),
  );
}
