import { type Html, html } from '../../http/html.ts';
import type { Page } from './layout.ts';

export interface ConsentView {
  readonly school: string;
  /** The app's name as it gave it: anyone may give any. */
  readonly clientName: string;
  /** Where the browser goes after the answer. */
  readonly destination: Destination;
  readonly account: string;
  readonly groups: readonly ScopeGroup[];
  /** The form's action, and the link to sign in as someone else. */
  readonly action: string;
  readonly switchAccount: string;
  readonly csrf: string;
  /** Said first when the last answer could not be taken. */
  readonly problem?: string;
}

export type Destination =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'computer' }
  | { readonly kind: 'app'; readonly scheme: string };

export interface ScopeGroup {
  readonly legend: string;
  readonly scopes: readonly { readonly token: string; readonly title: string; readonly checked: boolean }[];
}

/** The page on which a member lets an app in, or not. Approve and Cancel weigh the same. */
export function consentPage(view: ConsentView): Page {
  return {
    id: 'consent',
    school: view.school,
    title: `${view.clientName} asks for access`,
    body: html`
<h1>${view.clientName} asks for access to your account at ${view.school}</h1>
${view.problem !== undefined && html`<p class="notice" role="alert">${view.problem}</p>`}
<p class="notice">${view.school} has not checked this app. Anyone can use this name: approve only if you started this yourself.</p>
<div class="destination">${destination(view.destination)}</div>
<p class="account"><span>Signed in as <strong>${view.account}</strong></span> <a href="${view.switchAccount}">Not you?</a></p>
<form method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrf}">
${view.groups.map(fieldset)}
<div class="actions">
<button type="submit" name="decision" value="deny">Cancel</button>
<button type="submit" name="decision" value="approve">Approve</button>
</div>
</form>
<p class="muted">The app never sees your password. It keeps this access until it is withdrawn.</p>`,
  };
}

function destination(target: Destination): Html {
  switch (target.kind) {
    case 'host':
      return html`You will be sent to <strong>${target.host}</strong>`;
    case 'computer':
      return html`You will be sent to <strong>an app on this computer</strong>`;
    case 'app':
      return html`You will be sent to <strong>the app that opens ${target.scheme} links</strong>`;
  }
}

function fieldset(group: ScopeGroup): Html {
  return html`<fieldset>
<legend>${group.legend}</legend>
${group.scopes.map(
  (
    scope,
  ) => html`<label class="scope"><input type="checkbox" name="scope" value="${scope.token}"${scope.checked && html` checked`}>
<span>${scope.title} <code>${scope.token}</code></span></label>
`,
)}</fieldset>`;
}
