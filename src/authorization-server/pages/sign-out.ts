import { type Html, html } from '../../http/html.ts';
import { type MemberPage, titled } from './layout.ts';
import type { Words } from './words.ts';

export interface SignOutForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The account that is signed in, with a button that ends the sign-in if that is the gate's own. */
export function accountLine(words: Words, account: string, form: SignOutForm | undefined): Html {
  return html`<div class="account"><span>${words.html('consent.account', { account: html`<strong><bdi>${account}</bdi></strong>` })}</span>
${form !== undefined && html`<form method="post" action="${form.action}">${Object.entries(form.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<button type="submit" class="link">${words.html('sign_out.go')}</button></form>`}</div>`;
}

/** @param signIn - where the member can sign in again */
export function signedOutPage(words: Words, signIn: string): MemberPage {
  const body = html`<p role="status">${words.html('sign_out.text')}</p>
<p>${words.html('sign_out.elsewhere')}</p>
<p class="actions"><a class="button" href="${signIn}">${words.html('login.again.go')}</a></p>`;
  return titled(words, 'signed-out', body, 'sign_out.title');
}
