import { type FailureCode, GatewayError, type Reference } from '../../errors.ts';
import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import { PageFailure } from './page-failure.ts';
import type { Phrase, Words } from './words.ts';

/** The app that made the request, by the name it chose, and the host of its redirect URI. */
export interface RefusedApp {
  readonly name: string;
  readonly host: string | undefined;
}

/** An OAuth error and its description, for support and developers. */
export interface Refusal {
  readonly code: string;
  /** In English; '' if there is nothing to add. */
  readonly detail: string;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  /** Undefined when the app is unknown. */
  readonly app: RefusedApp | undefined;
}

interface ErrorView extends Refusal {
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

/** An authorization request is refused without redirecting the member back to the app (RFC 6749 section 4.1.2.1). */
export function refusalPage(words: Words, refusal: Refusal): Page {
  const reason = WITH_OWN_MESSAGE.find((code) => code === refusal.code) ?? 'malformed';
  return errorPage(words, {
    heading: 'refusal.heading',
    message: `refusal.${reason}`,
    advice: `refusal.${reason}.advice`,
    ...refusal,
  });
}

/** Every other failure. */
export function failurePage(words: Words, failure: GatewayError, { requestId, traceId }: Reference): Page {
  const ours = failure.status >= 500;
  const { code } = failure;
  return errorPage(words, {
    heading: ours ? 'failure.ours' : 'failure.theirs',
    message: failure instanceof PageFailure ? failure.phrase : phraseOf(code),
    advice: ours ? 'failure.ours.advice' : undefined,
    code,
    detail: detailOf(failure),
    requestId,
    traceId,
    app: undefined,
  });
}

/** Fails to compile unless every failure code has a phrase. */
function phraseOf(code: FailureCode): Phrase {
  return `failure.${code}`;
}

/** The failure's message, unless it is the standard message of its code. */
function detailOf(failure: GatewayError): string {
  const usual = new GatewayError(failure.code).message;
  return failure instanceof PageFailure || failure.message === usual ? '' : failure.message;
}

function errorPage(words: Words, view: ErrorView): Page {
  const { heading, message, advice, code, detail, requestId, traceId, app } = view;
  return {
    id: 'error',
    title: words.text(heading),
    body: html`
<h1>${words.html(heading)}</h1>
<p>${words.html(message)}</p>
${advice !== undefined && html`<p>${words.html(advice)}</p>`}
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
