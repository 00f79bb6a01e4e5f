import { type Html, html } from '../../http/html.ts';
import { appMark } from './app-mark.ts';
import type { Dates } from './dates.ts';
import type { MemberPage } from './layout.ts';
import { type Permissions, permissionFields, scopeCodes } from './permissions.ts';
import { posingWarning, type WaitingApp } from './waiting-app.ts';
import type { Words } from './words.ts';

export interface ConsentView {
  readonly app: AppView;
  readonly account: string;
  /** Undefined when the app is not connected at present. `since` is when it last was, in Unix seconds. */
  readonly connection: { readonly since: number; readonly asksForMore: boolean } | undefined;
  /** When the approval would end by itself, in Unix seconds. */
  readonly endsAt: number;
  /** The page of connected apps. */
  readonly connectedApps: string;
  /** Whether the app acts with the member's own session at the course site. */
  readonly ownSession: boolean;
  readonly permissions: Permissions;
  /** The form's action, and the link to sign in as someone else. */
  readonly action: string;
  readonly switchAccount: string;
  readonly csrf: string;
  /** The form was submitted with nothing ticked. The error is shown first. */
  readonly nothingTicked: boolean;
}

/** What is known about the app. */
export interface AppView extends WaitingApp {
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

/** Whether the page advises against this app: Cancel is then the primary button, and no box is ticked. */
export function isSuspicious({ posing, proof }: Pick<AppView, 'posing' | 'proof'>): boolean {
  return posing !== undefined || (proof.kind === 'proved' && proof.elsewhere);
}

/**
 * The consent page. All of it is in the form, so that the buttons can stay at the bottom of the screen. Cancel comes
 * first, so that Enter in the form approves nothing.
 */
export function consentPage(words: Words, dates: Dates, view: ConsentView): MemberPage {
  const { posing } = view.app;
  const app = view.app.name ?? words.text('consent.nameless');
  const primary = isSuspicious(view.app) ? 'deny' : 'approve';
  const button = (decision: 'deny' | 'approve', phrase: 'consent.cancel' | 'consent.approve') =>
    html`<button type="submit" name="decision" value="${decision}"${decision === primary && html` class="go"`}>${words.html(phrase)}</button>`;
  return {
    id: 'consent',
    title: words.text(posing ? 'consent.title.posing' : 'consent.title', { app }),
    body: html`
<form method="post" action="${view.action}" autocomplete="off">
<input type="hidden" name="csrf" value="${view.csrf}">
<div class="asking">${appMark(view.app.name)}<h1>${words.html(posing ? 'consent.heading.posing' : 'consent.heading', { app })}</h1></div>
${view.nothingTicked && html`<p class="notice problem" role="alert">${words.html('consent.nothing')}</p>`}
<p class="account"><span>${words.html('consent.account', { account: html`<strong><bdi>${view.account}</bdi></strong>` })}</span> <a href="${view.switchAccount}">${words.html('consent.switch')}</a></p>
${whoAndWhere(words, view)}
${view.connection && html`<p class="since">${words.html(view.connection.asksForMore ? 'consent.again.more' : 'consent.again.same', { app, date: dates.day(view.connection.since) })}</p>`}
${permissionFields(words, view.permissions)}
${view.ownSession && html`<p class="fine">${words.html('consent.session')}</p>`}
${links(words, view.app)}
<details class="fine"><summary>${words.html('consent.details')}</summary>${scopeCodes(words, view.permissions)}</details>
<div class="actions">
<p>${words.html('consent.until', { date: dates.day(view.endsAt), apps: html`<a href="${view.connectedApps}" target="_blank" rel="noopener">${words.html('apps.title')}</a>` })}</p>
${button('deny', 'consent.cancel')}
${button('approve', 'consent.approve')}
</div>
</form>`,
  };
}

/** Where the browser is sent, and what is known about the app: a notice if it is verified or suspicious, else a line. */
function whoAndWhere(words: Words, { app, connection }: ConsentView): Html {
  const destination = html`<strong>${place(words, app.destination)}</strong>`;
  const isProved = app.proof.kind === 'proved';
  const isElsewhere = app.proof.kind === 'proved' && app.proof.elsewhere;
  const posing = app.posing && html`<strong>${posingWarning(words, app.posing)}</strong> `;
  const look = isSuspicious(app) ? 'notice problem' : isProved ? 'notice proof' : 'unproved';
  // The warning about another domain says where the browser is sent.
  return html`${!isElsewhere && html`<p class="destination">${words.html('consent.destination', { place: destination })}</p>`}
${connection === undefined && html`<p class="fine">${words.html('consent.first')}</p>`}
<p class="${look}">${posing}${proof(words, app, destination)}</p>`;
}

function proof(words: Words, { proof: shown, destination: { kind } }: AppView, destination: Html): Html {
  if (shown.kind === 'none') return words.html(kind === 'host' ? 'consent.unchecked' : 'consent.unchecked.device');
  const host = html`<strong><bdi>${shown.host}</bdi></strong>`;
  if (shown.kind === 'claimed') return words.html('consent.claimed', { host });
  if (shown.elsewhere) return words.html('consent.proved.elsewhere', { host, place: destination });
  return html`${words.html('consent.proved', { host })}<small>${words.html('consent.proved.limits')}</small>`;
}

/** Describes where the browser is sent. */
export function place(words: Words, destination: Destination): Html {
  if (destination.kind === 'host') return html`<bdi>${destination.host}</bdi>`;
  if (destination.kind === 'computer') return words.html('consent.destination.computer');
  return words.html('consent.destination.scheme', { scheme: destination.scheme });
}

/** Links to the app's own pages. They open in a new tab, so that this page stays open, and receive no referrer. */
function links(words: Words, { policy, terms }: AppView): Html | undefined {
  const link = (phrase: 'consent.policy' | 'consent.terms', url: URL | undefined) =>
    url !== undefined &&
    html`<li><a href="${url.href}" target="_blank" rel="noopener noreferrer">${words.html(phrase, { host: url.host })}</a></li>`;
  if (policy === undefined && terms === undefined) return undefined;
  return html`<ul class="links">${link('consent.policy', policy)}${link('consent.terms', terms)}</ul>`;
}
