import { type FailureCode, GatewayError } from '../../errors.ts';
import { type Html, html } from '../../http/html.ts';
import { type MemberPage, titled } from './layout.ts';
import { PageFailure } from './page-failure.ts';
import { waitIn } from './wait.ts';
import type { Phrase, Words } from './words.ts';

/** The app that made the request, by the name it chose, and the host of its redirect URI. */
export interface RefusedApp {
  readonly name: string;
  readonly host: string | undefined;
}

/** An OAuth error and its description, for support and developers. */
export interface OAuthRefusal {
  readonly code: string;
  /** In English; '' if there is nothing to add. */
  readonly detail: string;
  readonly requestId: string;
  /** Undefined when the app is unknown. */
  readonly app: RefusedApp | undefined;
}

/** What the member can do about an error at this address, and by when and by which trace support finds it. */
export interface NextSteps {
  /** Whether the same request can be sent again from the page: a GET that failed for now, and used nothing up. */
  readonly offered: boolean;
  /** Seconds until the gate answers again, if it says so. */
  readonly wait: number | undefined;
  /** The course site, if there is an address for it, and the page of connected apps. */
  readonly home: string | undefined;
  readonly apps: string;
  readonly at: Date;
  readonly traceId: string | undefined;
}

interface ErrorView extends OAuthRefusal {
  readonly next: NextSteps;
  /** For the message. */
  readonly wait?: string | undefined;
  readonly heading: Phrase;
  /** What happened and what to do, for the member. */
  readonly message: Phrase;
  readonly advice?: Phrase | undefined;
}

/** The errors with a specific message. All others are shown as a malformed request. */
const WITH_OWN_MESSAGE = [
  'access_denied',
  'invalid_client',
  'invalid_client_metadata',
  'invalid_redirect_uri',
  'server_error',
  'temporarily_unavailable',
] as const;

/** What `fetch-document.ts` says of a host that it got no answer from. */
const UNREACHABLE = /^the client metadata document at this client_id (?:cannot be reached|was not answered within)/;

/** An authorization request is refused without redirecting the member back to the app (RFC 6749 section 4.1.2.1). */
export function refusalPage(words: Words, refusal: OAuthRefusal, next: NextSteps): MemberPage {
  const known = WITH_OWN_MESSAGE.find((code) => code === refusal.code) ?? 'malformed';
  // No connection, or no answer: more often the school's own firewall than the app's host.
  const reason = UNREACHABLE.test(refusal.detail) ? 'document_unreachable' : known;
  return errorPage(words, {
    heading: 'refusal.heading',
    message: `refusal.${reason}`,
    advice: `refusal.${reason}.advice`,
    next,
    ...refusal,
  });
}

/** Every other failure. */
export function failurePage(words: Words, failure: GatewayError, requestId: string, next: NextSteps): MemberPage {
  const { offered, wait } = next;
  const ours = failure.status >= 500;
  const { code } = failure;
  return errorPage(words, {
    heading: ours ? 'failure.ours' : 'failure.theirs',
    message: failure instanceof PageFailure ? failure.phrase : phraseOf(code, wait),
    wait: wait === undefined ? undefined : waitIn(words.locales, wait),
    advice: ours ? (offered ? 'failure.ours.advice' : 'failure.ours.advice.again') : undefined,
    next,
    code,
    detail: detailOf(failure),
    requestId,
    app: undefined,
  });
}

/** Fails to compile unless every failure code has a phrase. */
function phraseOf(code: FailureCode, wait: number | undefined): Phrase {
  if (code === 'too_many_requests' && wait !== undefined) return 'failure.too_many_requests.wait';
  return `failure.${code}`;
}

/** The failure's message, unless it is the standard message of its code. */
function detailOf(failure: GatewayError): string {
  const usual = new GatewayError(failure.code).message;
  return failure instanceof PageFailure || failure.message === usual ? '' : failure.message;
}

/**
 * What to do next. An empty reference is the address of the page itself (RFC 3986 section 4.4), so the link can lead
 * nowhere else.
 */
function steps(words: Words, { offered, home, apps }: NextSteps): Html {
  return html`${offered && html`<p class="retry"><a class="button go" href="">${words.html('error.retry')}</a></p>`}
<p class="actions">
${home !== undefined && html`<a class="button" href="${home}" rel="noopener">${words.html('apps.back')}</a>`}
<a class="button" href="${apps}">${words.html('apps.title')}</a></p>`;
}

function errorPage(words: Words, view: ErrorView): MemberPage {
  const { heading, message, wait, advice, next } = view;
  const body = html`<p>${words.html(message, { wait })}</p>
${advice !== undefined && html`<p>${words.html(advice)}</p>`}
${steps(words, next)}
<h2 class="muted">${words.html('error.technical')}</h2>
<p class="copy"><code lang="en" dir="ltr">${reference(view)}</code></p>`;
  return titled(words, 'error', body, heading);
}

/** One text for support, which one press selects: pages run no script that could copy it. */
function reference({ code, detail, requestId, app, next }: ErrorView): Html {
  const lines = [
    html`${code}${detail !== '' && `: ${detail}`}`,
    app !== undefined && html`<bdi>${app.name}</bdi>${app.host !== undefined && `, ${app.host}`}`,
    `request ${requestId}`,
    next.traceId !== undefined && `trace ${next.traceId}`,
    next.at.toISOString().replace(/\.\d+/, ''),
  ].filter((line) => line !== false);
  return html`${lines.map((line, index) => html`${index > 0 && '\n'}${line}`)}`;
}
