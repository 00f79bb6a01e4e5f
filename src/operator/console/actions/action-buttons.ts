import type { OperatorAction } from '../../../actions/action.ts';
import { fillPath } from '../../../actions/fill-path.ts';
import type { Described } from '../../../actions/subject.ts';
import { type Html, html } from '../../../http/html.ts';
import { ROOT } from '../paths.ts';

/** The actions that apply to a member or an app: links to their questions, or forms for what is done without asking. */
export function actionButtons(
  actions: readonly OperatorAction[],
  id: string,
  described: Described,
  csrf: string,
): Html {
  const buttons = actions
    .filter(({ applies }) => applies?.(described) === true)
    .toSorted((a, b) => Number(b.page?.first ?? false) - Number(a.page?.first ?? false))
    .map(({ ask, page }) => {
      if (page === undefined) return undefined;
      const path = ROOT + fillPath(page.path, { id });
      return ask === undefined
        ? html`<form method="post" action="${path}"><input type="hidden" name="csrf" value="${csrf}"><button>${page.button}</button></form>`
        : html` <a class="button danger" href="${path}">${page.button}…</a>`;
    });
  return html`<div class="actions">${buttons}</div>`;
}
