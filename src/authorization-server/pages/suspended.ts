import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import type { Words } from './words.ts';

export interface SuspendedView {
  /** The signed-in account. */
  readonly account: string;
  readonly cancel: { readonly action: string; readonly csrf: string };
}

/** Shown to a suspended member instead of the consent page. */
export function suspendedPage(words: Words, { account, cancel }: SuspendedView): Page {
  return {
    id: 'suspended',
    title: words.text('suspended.title'),
    body: html`
<h1>${words.html('suspended.heading')}</h1>
<p>${words.html('suspended.text', { account: html`<strong><bdi>${account}</bdi></strong>` })}</p>
<p>${words.html('suspended.advice')}</p>
<form method="post" action="${cancel.action}">
<input type="hidden" name="csrf" value="${cancel.csrf}">
<div class="actions">
<button type="submit" name="decision" value="deny">${words.html('suspended.cancel')}</button>
</div>
</form>`,
  };
}
