import { type FailureCode, GatewayError, type Reference } from '../../errors.ts';
import { type Html, html } from '../../http/html.ts';
import type { MemberPage } from './layout.ts';
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
  readonly traceId?: string | undefined;
  /** Undefined when the app is unknown. */
  readonly app: RefusedApp | undefined;
}

/** What the member can do about an error at this address. */
export interface Retry {
  /** Whether the same request can be sent again from the page: a GET that failed for now, and used nothing up. */
  readonly offered: boolean;
  /** Seconds until the gate answers again, if it says so. */
  readonly wait: number | undefined;
}

interface ErrorView extends OAuthRefusal {
  readonly retry: boolean;
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
export function refusalPage(words: Words, refusal: OAuthRefusal, retry: Retry): MemberPage {
  const known = WITH_OWN_MESSAGE.find((code) => code === refusal.code) ?? 'malformed';
  // No connection, or no answer: more often the school's own firewall than the app's host.
  const reason = UNREACHABLE.test(refusal.detail) ? 'document_unreachable' : known;
  return errorPage(words, {
    heading: 'refusal.heading',
    message: `refusal.${reason}`,
    advice: `refusal.${reason}.advice`,
    retry: retry.offered,
    ...refusal,
  });
}

/** Every other failure. */
export function failurePage(
  words: Words,
  failure: GatewayError,
  { requestId, traceId }: Reference,
  { offered, wait }: Retry,
): MemberPage {
  const ours = failure.status >= 500;
  const { code } = failure;
  return errorPage(words, {
    heading: ours ? 'failure.ours' : 'failure.theirs',
    message: failure instanceof PageFailure ? failure.phrase : phraseOf(code, wait),
    wait: wait === undefined ? undefined : waitIn(words.locales, wait),
    advice: ours ? (offered ? 'failure.ours.advice' : 'failure.ours.advice.again') : undefined,
    retry: offered,
    code,
    detail: detailOf(failure),
    requestId,
    traceId,
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

/** An empty reference is the address of the page itself (RFC 3986 section 4.4), so the link can lead nowhere else. */
function retryLink(words: Words): Html {
  return html`<p class="retry"><a class="button go" href="">${words.html('error.retry')}</a></p>`;
}

function errorPage(words: Words, view: ErrorView): MemberPage {
  const { heading, message, wait, advice, retry, code, detail, requestId, traceId, app } = view;
  return {
    id: 'error',
    title: words.text(heading),
    body: html`
<h1>${words.html(heading)}</h1>
<p>${words.html(message, { wait })}</p>
${advice !== undefined && html`<p>${words.html(advice)}</p>`}
${retry && retryLink(words)}
<h2 class="muted">${words.html('error.technical')}</h2>
<dl class="muted">
${app !== undefined && html`<dt>${words.html('error.app')}</dt><dd><bdi>${app.name}</bdi></dd>`}
${app?.host !== undefined && html`<dt>${words.html('error.host')}</dt><dd dir="ltr">${app.host}</dd>`}
<dt>${words.html('error.code')}</dt><dd><code>${code}</code></dd>
${detail !== '' && html`<dt>${words.html('error.detail')}</dt><dd lang="en" dir="ltr">${detail}</dd>`}
<dt>${words.html('error.request')}</dt><dd><code>${requestId}</code></dd>
${traceId !== undefined && html`<dt>${words.html('error.trace')}</dt><dd><code>${traceId}</code></dd>`}
</dl>`,
  };
}
