import { type FailureCode, GatewayError, type Reference } from '../../errors.ts';
import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import { PageFailure } from './page-failure.ts';
import type { Phrase, Words } from './words.ts';

interface ErrorView {
  readonly heading: Phrase;
  /** What happened, and what to do, in words for the member. */
  readonly message: Phrase;
  readonly advice?: Phrase | undefined;
  /** For a developer: the code, what was said of it, in English, and the request's id in the log. */
  readonly code: string;
  readonly detail?: string | undefined;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly app?: RefusedApp | undefined;
}

/** The app that asked, as it calls itself, and where it wanted the member sent. */
export interface RefusedApp {
  readonly name: string;
  readonly host: string | undefined;
}

/** An OAuth error, with its description. */
export interface Refusal {
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  /** Undefined: no such app is known. */
  readonly app: RefusedApp | undefined;
}

/** The errors that a member can be told more of than that the request is malformed. */
const TOLD = ['invalid_client', 'invalid_redirect_uri', 'server_error'] as const;

/** Why an app's request to connect is refused without sending the member back to it (RFC 6749 §4.1.2.1). */
export function refusalPage(words: Words, refusal: Refusal): Page {
  const reason = TOLD.find((code) => code === refusal.code) ?? 'malformed';
  return errorPage(words, {
    heading: 'refusal.heading',
    message: `refusal.${reason}`,
    advice: `refusal.${reason}.advice`,
    ...refusal,
  });
}

/** Any other failure, for a person. */
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
  });
}

/** Every code of the table has a phrase, or this does not compile. */
function phraseOf(code: FailureCode): Phrase {
  return `failure.${code}`;
}

/** What was said of this failure beyond what its code says. */
function detailOf(failure: GatewayError): string | undefined {
  const usual = new GatewayError(failure.code).message;
  return failure instanceof PageFailure || failure.message === usual ? undefined : failure.message;
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
${detail !== undefined && detail !== '' && html`<dt>${words.html('error.detail')}</dt><dd lang="en" dir="ltr">${detail}</dd>`}
<dt>${words.html('error.request')}</dt><dd><code>${requestId}</code></dd>
${traceId !== undefined && html`<dt>${words.html('error.trace')}</dt><dd><code>${traceId}</code></dd>`}
</dl>`,
  };
}
