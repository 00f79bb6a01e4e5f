import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import type { Exchange } from './exchange.ts';
import { LESSONS } from './lessons.ts';
import { type Mask, maskHeader, maskJson, parameterLines } from './mask.ts';
import type { Step } from './walk.ts';

/** Renders one step as a card. */
export function stepCard(step: Step, open: boolean, mask: Mask): Html {
  const { title, why, standard } = LESSONS[step.lesson];
  const state =
    step.problem !== undefined ? 'failed' : step.refused === true || step.lesson === 'refused' ? 'refused' : 'done';
  return html`<li class="step ${state}" id="step-${step.number}">
    <details${open && html` open`}>
      <summary><span class="number">${step.number}</span> <span class="title">${title}</span>
        <span class="state">${state}</span></summary>
      <p>${why} <a href="${standard[1]}" rel="noreferrer">${standard[0]}</a></p>
      ${step.problem !== undefined && problemNote(step.problem)}
      ${step.facts.length > 0 && html`<ul class="facts">${step.facts.map((fact) => html`<li>${fact}</li>`)}</ul>`}
      ${step.exchanges.map((exchange) => exchangeView(exchange, mask))}
    </details>
  </li>`;
}

/** Renders a failure, within a card or a page. */
export function problemNote(problem: { readonly message: string; readonly advice: string }): Html {
  return html`<div class="problem" role="note"><p><strong>${problem.message}</strong></p><p>${problem.advice}</p></div>`;
}

function exchangeView({ method, url, headers, body, answer }: Exchange, mask: Mask): Html {
  const target = URL.parse(url);
  const query = parameterLines(target?.searchParams ?? new URLSearchParams(), mask);
  const address = target === null ? url : `${target.origin}${target.pathname}`;
  const request = html`<b>${method}</b> ${address}\n${parameters(query, '?')}`;
  return html`<div class="exchange">
    <h3>Request</h3>
    ${wire(`Request: ${method} ${address}`, request, { headers, body }, mask)}
    ${
      answer !== undefined &&
      html`<h3>Answer <small>after ${answer.milliseconds} ms</small></h3>
    ${wire(`Answer: ${answer.status}`, html`<b>${answer.status} ${answer.statusText}</b>\n`, answer, mask)}`
    }
  </div>`;
}

/** A request or response. It may scroll, so it must be reachable by keyboard. */
function wire(label: string, start: Html, { headers, body }: Pick<Exchange, 'headers' | 'body'>, mask: Mask): Html {
  const lines = headers.map(([name, value]) => html`<i>${name}</i>: ${maskHeader(name, value, mask)}\n`);
  return html`<pre tabindex="0" role="group" aria-label="${label}"><code>${start}${lines}${bodyText(body, headers, mask)}</code></pre>`;
}

function parameters(lines: readonly [string, string][], first: string): HtmlValue {
  return lines.map(([name, value], index) => html`  ${index === 0 ? first : '&'}<i>${name}</i>=${value}\n`);
}

function bodyText(body: string | undefined, headers: Exchange['headers'], mask: Mask): HtmlValue {
  if (body === undefined || body === '') return undefined;
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return html`\n${parameters(parameterLines(new URLSearchParams(body), mask), ' ')}`;
  }
  return html`\n${maskJson(body, mask) ?? body}`;
}
