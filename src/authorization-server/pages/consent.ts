import type { Translatable } from '../../config/pages.ts';
import type { ScopeConfig } from '../../config/schema.ts';
import { type Html, html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import type { Words } from './words.ts';

export interface ConsentView {
  readonly app: AppView;
  readonly account: string;
  /** The member has no connection to this app at present. */
  readonly firstTime: boolean;
  /** The page of connected apps. */
  readonly connectedApps: string;
  /** Whether the app acts with the member's own session at the course site. */
  readonly ownSession: boolean;
  readonly groups: readonly ScopeGroup[];
  /** The form's action, and the link to sign in as someone else. */
  readonly action: string;
  readonly switchAccount: string;
  readonly csrf: string;
  /** The form was submitted with nothing ticked. The error is shown first. */
  readonly nothingTicked: boolean;
}

/** What is known about the app. */
export interface AppView {
  /** Chosen by the app, and therefore not to be trusted. */
  readonly name: string | undefined;
  /** Whether the name imitates the course site. */
  readonly posing: boolean;
  readonly proof: AppProof;
  /** Where the browser is sent afterwards. */
  readonly destination: Destination;
  /** https URLs of the app's own pages. */
  readonly policy: URL | undefined;
  readonly terms: URL | undefined;
}

/**
 * Who the app belongs to. `proved`: its metadata is published by `host`, which is also the redirect destination unless
 * `elsewhere`. `claimed`: the same, but it redirects to an app on the device, and any local app can receive that
 * redirect. `none`: unknown.
 */
export type AppProof =
  | { readonly kind: 'proved'; readonly host: string; readonly elsewhere: boolean }
  | { readonly kind: 'claimed'; readonly host: string }
  | { readonly kind: 'none' };

export type Destination =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'computer' }
  | { readonly kind: 'scheme'; readonly scheme: string };

export interface ScopeGroup {
  readonly kind: ScopeConfig['kind'];
  readonly scopes: readonly ScopeLine[];
}

interface ScopeLine {
  readonly token: string;
  readonly title: Translatable;
  /** `always`: included in every approval, without a checkbox. */
  readonly box: 'ticked' | 'unticked' | 'always';
}

/** The consent page. Approve and Cancel have equal weight. */
export function consentPage(words: Words, view: ConsentView): Page {
  const { posing } = view.app;
  const app = view.app.name ?? words.text('consent.nameless');
  return {
    id: 'consent',
    title: words.text(posing ? 'consent.title.posing' : 'consent.title', { app }),
    body: html`
<h1>${words.html(posing ? 'consent.heading.posing' : 'consent.heading', { app })}</h1>
${view.nothingTicked && html`<p class="notice problem" role="alert">${words.html('consent.nothing')}</p>`}
${posing && html`<p class="notice problem">${words.html('consent.posing')}</p>`}
${proof(words, view.app.proof)}
${view.firstTime && html`<p class="notice">${words.html('consent.first')}</p>`}
<div class="destination">${words.html('consent.destination', { place: html`<strong>${place(words, view.app.destination)}</strong>` })}</div>
${links(words, view.app)}
<p class="account"><span>${words.html('consent.account', { account: html`<strong><bdi>${view.account}</bdi></strong>` })}</span> <a href="${view.switchAccount}">${words.html('consent.switch')}</a></p>
<form method="post" action="${view.action}">
<input type="hidden" name="csrf" value="${view.csrf}">
${view.groups.map((group) => fieldset(words, group))}
${view.ownSession && html`<p class="notice">${words.html('consent.session')}</p>`}
<div class="actions">
<button type="submit" name="decision" value="deny">${words.html('consent.cancel')}</button>
<button type="submit" name="decision" value="approve">${words.html('consent.approve')}</button>
</div>
</form>
<p class="muted">${words.html('consent.outlook')}
<a href="${view.connectedApps}" target="_blank" rel="noopener">${words.html('consent.apps')}</a></p>`,
  };
}

function proof(words: Words, shown: AppProof): Html {
  switch (shown.kind) {
    case 'proved': {
      const domain = words.html('consent.proved', { host: html`<strong><bdi>${shown.host}</bdi></strong>` });
      // Not green when the redirect goes to another domain: green would suggest that it is safe.
      return html`<p class="notice domain${shown.elsewhere ? '' : ' proof'}">${domain} ${words.html('consent.proved.limits')}</p>
${shown.elsewhere && html`<p class="notice problem">${words.html('consent.proved.elsewhere')}</p>`}`;
    }
    case 'claimed':
      return html`<p class="notice">${words.html('consent.claimed', { host: html`<strong><bdi>${shown.host}</bdi></strong>` })}</p>`;
    case 'none':
      return html`<p class="notice">${words.html('consent.unchecked')}</p>`;
  }
}

/** Describes where the browser is sent. */
export function place(words: Words, destination: Destination): Html {
  switch (destination.kind) {
    case 'host':
      return html`<bdi>${destination.host}</bdi>`;
    case 'computer':
      return words.html('consent.destination.computer');
    case 'scheme':
      return words.html('consent.destination.scheme', { scheme: destination.scheme });
  }
}

/** Links to the app's own pages. They open in a new tab, so that this page stays open, and receive no referrer. */
function links(words: Words, { policy, terms }: AppView): Html | undefined {
  const link = (phrase: 'consent.policy' | 'consent.terms', url: URL | undefined) =>
    url !== undefined &&
    html`<li><a href="${url.href}" target="_blank" rel="noopener noreferrer">${words.html(phrase, { host: url.host })}</a></li>`;
  if (policy === undefined && terms === undefined) return undefined;
  return html`<ul class="links">${link('consent.policy', policy)}${link('consent.terms', terms)}</ul>`;
}

function fieldset(words: Words, { kind, scopes }: ScopeGroup): Html {
  return html`<fieldset class="${kind}">
<legend>${words.html(`consent.scopes.${kind}`)}</legend>
${kind === 'write' && html`<p>${words.html('consent.scopes.write.note')}</p>`}
${scopes.map((scope) => line(words, scope))}</fieldset>`;
}

function line(words: Words, { token, title, box }: ScopeLine): Html {
  const sentence = html`${words.own(title)} <code>${token}</code>`;
  if (box === 'always') {
    return html`<div class="scope always"><span>${sentence}<small>${words.html('consent.scopes.always')}</small></span></div>
`;
  }
  return html`<label class="scope"><input type="checkbox" name="scope" value="${token}"${box === 'ticked' && html` checked`}>
<span>${sentence}</span></label>
`;
}
