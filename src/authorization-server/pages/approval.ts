import type { Shown } from '../../approvals/approvals.ts';
import type { Translatable } from '../../config/pages.ts';
import { type Html, html } from '../../http/html.ts';
import { appMark } from './app-mark.ts';
import { type KnownApp, plainNameOf } from './app-row.ts';
import { appNotices } from './connected-app.ts';
import { isSuspicious } from './consent.ts';
import { type MemberPage, titled } from './layout.ts';
import { accountLine, type SignOutForm } from './sign-out.ts';
import { waitIn } from './wait.ts';
import type { Words } from './words.ts';

export interface ApprovalView {
  /** Undefined when the app is no longer registered. */
  readonly app: KnownApp | undefined;
  readonly account: string;
  /** What the call does, in the operator's words. */
  readonly titles: readonly Translatable[];
  /** Method and target of a request. */
  readonly request: string | undefined;
  readonly given: Shown['given'];
  readonly preview: Shown['preview'];
  readonly content: Shown['content'];
  /** Seconds until it expires. */
  readonly left: number;
  readonly action: string;
  readonly csrf: string;
}

/** Asks the member about one call of an app. All of the call is shown: nobody approves what they could not read. */
export function approvalPage(words: Words, view: ApprovalView): MemberPage {
  const app = plainNameOf(words, view.app);
  const title = view.app?.posing ? 'approval.title.posing' : 'approval.title';
  const primary = view.app === undefined || isSuspicious(view.app) ? 'deny' : 'approve';
  const button = (decision: 'deny' | 'approve') =>
    html`<button type="submit" name="decision" value="${decision}"${decision === primary && html` class="go"`}>${words.html(`approval.${decision}`)}</button>`;
  const rows = [...requestOf(words, view), ...view.given.map(argument)];
  return {
    id: 'approval',
    title: words.text(title, { app }),
    body: html`
<form method="post" action="${view.action}" autocomplete="off">
<input type="hidden" name="csrf" value="${view.csrf}">
<div class="asking">${appMark(view.app?.name)}<h1>${words.html(title, { app })}</h1></div>
${accountLine(words, view.account, undefined)}
${view.app && appNotices(words, view.app)}
${view.titles.map((title) => html`<h2>${words.own(title)}</h2>`)}
${rows.length > 0 ? html`<dl>${rows}</dl>` : html`<p>${words.html('approval.nothing')}</p>`}
${view.preview !== undefined && html`<h3>${words.html('approval.preview')}</h3><dl>${view.preview.map(argument)}</dl>`}
<div class="actions">
<p>${words.html('approval.once', { time: waitIn(words.locales, view.left) })}</p>
${button('deny')}
${button('approve')}
</div>
</form>`,
  };
}

/** What identifies a request of an app: its line, and a body that has no words. */
function requestOf(words: Words, { request, content }: ApprovalView): readonly Html[] {
  const row = (phrase: 'approval.request' | 'approval.content', value: Html) =>
    html`<dt>${words.html(phrase)}</dt>\n<dd>${value}</dd>\n`;
  return [
    ...(request === undefined ? [] : [row('approval.request', html`<code dir="ltr">${readable(request)}</code>`)]),
    ...(content === undefined ? [] : [row('approval.content', contentOf(words, content))]),
  ];
}

function contentOf(words: Words, { type, bytes, sha256 }: NonNullable<Shown['content']>): Html {
  const size = new Intl.NumberFormat(words.locales, { style: 'unit', unit: 'byte', unitDisplay: 'long' }).format(bytes);
  return html`${words.html('approval.content.text')}\n${size} <code dir="ltr">${readable(type)} SHA-256 ${sha256}</code>`;
}

function argument({ name, label, text, meaning }: Shown['given'][number]): Html {
  return html`<dt>${label === undefined ? html`<bdi>${readable(name)}</bdi>` : html`<bdi>${label}</bdi> <code>${readable(name)}</code>`}</dt>
<dd dir="auto">${meaning !== undefined && html`<strong>${readable(meaning)}</strong>\n`}${readable(text)}</dd>
`;
}

/** Text of a model or an app, with line breaks, and a sign in place of each character that would not be seen. */
function readable(text: string): string {
  return text.replace(UNSEEN, '\uFFFD');
}

/** Emoji keep the selector of their look (U+FE0F). */
const UNSEEN = /(?!\n|\uFE0F)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** @param left - seconds until it expires */
export function decidedPage(words: Words, state: 'approved' | 'declined', left: number): MemberPage {
  const time = waitIn(words.locales, left);
  const body = html`<p role="status">${words.html(`approval.${state}.text`, { time })}</p>`;
  return titled(words, 'approval', body, `approval.${state}`);
}

/** There is no such call, or not for this member. */
export function noApprovalPage(
  words: Words,
  { account, signOut }: { readonly account: string; readonly signOut: SignOutForm | undefined },
): MemberPage {
  const body = html`<p>${words.html('approval.missing.text')}</p>
${accountLine(words, account, signOut)}`;
  return titled(words, 'approval', body, 'approval.missing');
}
