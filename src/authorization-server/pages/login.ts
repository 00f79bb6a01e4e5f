import { type Html, html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import type { Words } from './words.ts';

interface StopView {
  /** The signed-in account, if there is one. */
  readonly account: string | undefined;
  /** Where the Cancel button posts to, which refuses the app's request. */
  readonly cancel: { readonly action: string; readonly csrf: string };
}

export interface LoginView extends StopView {
  readonly signIn: string;
}

/** Shown when a member returns from the course site without having signed in. A redirect would loop, so they choose. */
export function loginPage(words: Words, view: LoginView): Page {
  const again = view.account === undefined ? 'login' : 'login.again';
  const go = html`<a class="button go" href="${view.signIn}">${words.html(`${again}.go`)}</a>`;
  return stopPage(words, 'login', again, view, { go });
}

/** Shown to a suspended member instead of the consent page. */
export function suspendedPage(words: Words, view: StopView): Page {
  const advice = html`<p>${words.html('suspended.advice')}</p>`;
  return stopPage(words, 'suspended', 'suspended', view, { advice });
}

function stopPage(
  words: Words,
  id: 'login' | 'suspended',
  phrase: 'login' | 'login.again' | 'suspended',
  { account, cancel }: StopView,
  { advice, go }: { readonly advice?: Html; readonly go?: Html },
): Page {
  return {
    id,
    title: words.text(`${phrase}.title`),
    body: html`
<h1>${words.html(`${phrase}.heading`)}</h1>
<p>${words.html(`${phrase}.text`, { account: html`<strong><bdi>${account}</bdi></strong>` })}</p>
${advice}
<form method="post" action="${cancel.action}">
<input type="hidden" name="csrf" value="${cancel.csrf}">
<div class="actions">
<button type="submit" name="decision" value="deny">${words.html(`${id}.cancel`)}</button>
${go}
</div>
</form>`,
  };
}
