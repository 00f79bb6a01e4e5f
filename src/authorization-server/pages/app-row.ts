import { type Html, html } from '../../http/html.ts';
import { appMark } from './app-mark.ts';
import type { AppProof, AppView, Destination } from './consent.ts';
import type { Dates } from './dates.ts';
import { inBrief } from './fold.ts';
import type { Words } from './words.ts';

/** What is known about an app that a member has connected. */
export interface KnownApp extends Pick<AppView, 'name' | 'posing' | 'proof'> {
  /** Every redirect destination it has registered. */
  readonly destinations: readonly Destination[];
}

/** Text in the language of the page. */
export type Label = (words: Words) => Html;

/** A connected app in the list. Times are Unix seconds. */
export interface ConnectedAppRow {
  /** Undefined when the app is no longer registered. Its grants are still valid. */
  readonly app: KnownApp | undefined;
  /** What it can see, and what it can change. */
  readonly sees: readonly Label[];
  readonly changes: readonly Label[];
  /** Whether it has fetched a token. Otherwise it is approved, and not connected. */
  readonly redeemed: boolean;
  /** Undefined when it has never been used. */
  readonly lastUsedAt: number | undefined;
  /** The latest expiry of its connections; undefined when one never expires. */
  readonly endsAt: number | undefined;
  /** The page about it, and the one that confirms disconnecting it. */
  readonly details: string;
  readonly disconnect: string;
}

/** Areas named in a row. */
const NAMED = 6;

export function appRow(words: Words, dates: Dates, row: ConnectedAppRow): Html {
  const { app, lastUsedAt, endsAt } = row;
  const facts = [
    app !== undefined && proofInBrief(words, app.proof),
    lastUsedAt === undefined
      ? words.html(row.redeemed ? 'apps.row.never' : 'apps.row.unfetched')
      : words.html('apps.row.used', { when: dates.ago(lastUsedAt) }),
    endsAt !== undefined && words.html('apps.row.ends', { date: dates.day(endsAt) }),
  ];
  const inWords = (label: Label) => label(words);
  const named = (labels: readonly Label[]) => words.list(inBrief(words, labels.map(inWords), NAMED));
  return html`<li class="app">
${appMark(app?.name)}
<h2><a href="${row.details}">${nameOf(words, app)}</a></h2>
<a class="end" href="${row.disconnect}" aria-label="${words.text('apps.disconnect', { app: plainNameOf(words, app) })}">${words.html('apps.confirm')}</a>
<div>
${app?.posing && html`<p class="badge problem">${words.html(app.posing === 'school' ? 'apps.row.posing' : 'apps.row.posing.brand')}</p>`}
<p class="muted">${facts.filter(Boolean).map((fact) => html`<span>${fact}</span> `)}</p>
${row.sees.length > 0 && html`<p>${words.html('apps.row.sees', { areas: named(row.sees) })}</p>`}
${row.changes.length > 0 && html`<p class="badge">${words.html('apps.row.writes', { areas: named(row.changes) })}</p>`}
</div>
</li>
`;
}

export function nameOf(words: Words, app: KnownApp | undefined): Html {
  return app === undefined ? words.html('apps.gone') : html`<bdi>${plainNameOf(words, app)}</bdi>`;
}

/** The app's name for titles and labels, which have no markup. */
export function plainNameOf(words: Words, app: KnownApp | undefined): string {
  return app === undefined ? words.text('apps.gone') : (app.name ?? words.text('consent.nameless'));
}

function proofInBrief(words: Words, proof: AppProof): Html {
  return proof.kind === 'proved' && !proof.elsewhere
    ? words.html('apps.row.verified', { host: proof.host })
    : words.html('apps.row.unverified');
}
