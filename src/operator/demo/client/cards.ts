import { type Html, html } from '../../../http/html.ts';
import type { WireRecord } from './exchange.ts';
import { LESSONS, type Step } from './walk.ts';

/**
 * Names of values that must not appear in a screenshot, since they allow acting as the member or the app. `jti` is
 * included because some servers use the token itself as its identifier.
 */
const SECRETS = new Set(
  'access_token client_secret code code_verifier id_token jti refresh_token registration_access_token token'.split(' '),
);

/** How values are displayed: secrets shortened, or everything in full on request. */
export type Mask = (name: string, value: string) => string;

/** Shortens a secret to six characters, or to none if it is short. */
export const shortened: Mask = (name, value) => {
  if (!SECRETS.has(name)) return value;
  return `${value.length > 12 ? value.slice(0, 6) : ''}…`;
};

export const whole: Mask = (_name, value) => value;

/** Renders one step as a card. */
export function stepCard({ lesson, number, state, problem, facts, exchanges }: Step, open: boolean, mask: Mask): Html {
  const { title, why, standard } = LESSONS[lesson];
  return html`<li class="step ${state}" id="step-${number}">
    <details${open && html` open`}>
      <summary><span class="number">${number}</span> <span class="title">${title}</span>
        <span class="state">${state}</span></summary>
      <p>${why} <a href="${standard.url}" rel="noreferrer">${standard.name}</a></p>
      ${problem && problemNote(problem.message, problem.advice)}
      ${facts.length > 0 && html`<ul class="facts">${facts.map((fact) => html`<li>${fact}</li>`)}</ul>`}
      ${exchanges.map((exchange) => exchangeView(exchange, mask))}
    </details>
  </li>`;
}

/** Renders a failure, within a card or a page. */
export function problemNote(message: string, advice: string): Html {
  return html`<div class="problem" role="note"><p><strong>${message}</strong></p><p>${advice}</p></div>`;
}

function exchangeView({ method, url, headers, body, answer }: WireRecord, mask: Mask): Html {
  const { origin, pathname, search } = new URL(url);
  const address = origin + pathname;
  const request = html`<b>${method}</b> ${address}\n${parameters(search, '?', mask)}`;
  const received =
    answer &&
    html`<h3>Answer <small>after ${answer.milliseconds} ms</small></h3>
    ${wire(`Answer: ${answer.status}`, html`<b>${answer.status} ${answer.statusText}</b>\n`, answer, mask)}`;
  return html`<div class="exchange">
    <h3>Request</h3>
    ${wire(`Request: ${method} ${address}`, request, { headers, body }, mask)}
    ${received}
  </div>`;
}

/** A request or response. It may scroll, so it must be reachable by keyboard. */
function wire(label: string, start: Html, { headers, body }: Pick<WireRecord, 'headers' | 'body'>, mask: Mask): Html {
  const lines = headers.map(([name, value]) => html`<i>${name}</i>: ${maskHeader(name, value, mask)}\n`);
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const form = type.startsWith('application/x-www-form-urlencoded');
  const text = body && html`\n${form ? parameters(body, ' ', mask) : (maskJson(body, mask) ?? body)}`;
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${start}${lines}${text}</code></pre>`;
}

/** The decoded parameters of a query or form body, one on each line. */
function parameters(text: string, first: string, mask: Mask): readonly Html[] {
  return [...new URLSearchParams(text)].map(
    ([name, value], index) => html`  ${index === 0 ? first : '&'}<i>${name}</i>=${mask(name, value)}\n`,
  );
}

/** Masks a header value. The scheme of Authorization stays readable. */
function maskHeader(name: string, value: string, mask: Mask): string {
  if (name.toLowerCase() !== 'authorization') return value;
  return value.replace(/(?<=^\S+ ).+$/s, (credentials) => mask('token', credentials));
}

/** Indents a JSON body and masks it at every depth; undefined when it is not JSON. */
function maskJson(body: string, mask: Mask): string | undefined {
  try {
    const masked = (name: string, value: unknown) => (typeof value === 'string' ? mask(name, value) : value);
    return JSON.stringify(JSON.parse(body), masked, 2);
  } catch {
    return undefined;
  }
}
