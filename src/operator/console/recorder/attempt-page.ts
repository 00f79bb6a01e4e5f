import { GatewayError } from '../../../errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { type AttemptStep, isOfApp, isRefused } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { appLink, memberLink } from '../kit/links.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { badge } from './attempts-list.ts';
import { type Explained, everyAttempt } from './explained.ts';
import { marked } from './marked.ts';
import { shown, textOf } from './text.ts';
import { kindName, lasting, outcomeOf } from './words.ts';

/** One attempt: what went wrong and what to do, then every step. */
export async function attemptPage(sources: ConsoleSources, { params }: ConsoleRequest): Promise<ConsoleAnswer> {
  const explained = (await everyAttempt(sources)).find(({ attempt }) => attempt.id === params.id);
  if (explained === undefined)
    throw new GatewayError('not_found', {
      message: 'This attempt is not kept any more: attempts are kept for 24 hours.',
    });
  const { attempt } = explained;
  const { times, setting } = sources;
  const body = html`${diagnosis(explained)}
${attemptFacts(explained, times)}
<section><h2>Steps</h2>
<ol class="steps">${attempt.steps.map((step, index) => stepItem(step, attempt.steps[index - 1], times))}</ol>
${attempt.left > 0 && html`<p class="muted">${attempt.left} steps in the middle were left out.</p>`}</section>
<details><summary>Text for the app’s developer</summary>
<p>It names no member and no address.</p>
<pre class="report" tabindex="0" role="region" aria-label="Text for the app’s developer">${textOf(explained, setting.origin)}</pre></details>`;
  return { title: explained.name, body };
}

function diagnosis({ state, at, why }: Explained): Html {
  if (why === undefined) {
    const words = {
      open: `In progress: the last step was “${kindName(at.kind)}”.`,
      connected: 'The app is connected: its token was accepted.',
      ended: 'The app was connected, and the connection was ended.',
      stopped: '',
    };
    return html`<section class="card"><p>${badge(state)} ${words[state]}</p></section>`;
  }
  return html`<section class="card" aria-labelledby="cause">
<p>${badge(state)} <span class="muted">at “${kindName(at.kind)}”</span></p>
<h2 id="cause">${why.title}</h2>
<p>${marked(why.why)}</p>
<dl class="advice">
${why.operator !== undefined && html`<div><dt>You can</dt><dd>${marked(why.operator)}</dd></div>`}
${why.developer !== undefined && html`<div><dt>The app’s developer</dt><dd>${marked(why.developer)}</dd></div>`}
</dl>
<p class="muted">See <code>${why.docs}</code>. Cause: <code>${why.id}</code></p>
</section>`;
}

function attemptFacts({ attempt, app: known, name, member, why }: Explained, times: Times): Html {
  const [first] = attempt.steps;
  const sent = attempt.steps.filter(({ userAgent }) => userAgent !== '');
  // A browser is only named if there is nothing else to tell what it was.
  const agent = sent.find(isOfApp) ?? (known === undefined ? sent[0] : undefined);
  return facts([
    ['App', known && html`${appLink({ id: known.id, name })} ${idOf(known)}`],
    ['Member', member && html`${memberLink(member)} ${idOf(member)}`],
    ['User agent', agent?.userAgent],
    ['Began', first && times.both(first.since)],
    ['Took', first && lasting(lastOf(attempt).at - first.since)],
    [
      'Others',
      why && html`<a href="${withQuery(pathOf('connections'), { cause: why.id })}">All that stopped for this cause</a>`,
    ],
  ]);
}

/** Beside a name that is not the id itself. */
function idOf({ id, name }: { readonly id: string; readonly name: string }): Html | false {
  return id !== name && html`<code class="muted">${id}</code>`;
}

function stepItem(step: AttemptStep, before: AttemptStep | undefined, times: Times): Html {
  const waited = before === undefined ? undefined : step.since - before.at;
  const parameters = shown(step);
  return html`<li class="${step.kind === 'challenge' ? 'expected' : isRefused(step) ? 'refused' : 'fine'}">
<p class="line"><strong>${kindName(step.kind)}</strong> <span class="result">${outcomeOf(step)}</span>${
    step.times > 1 && html` <span class="muted">${step.times} times</span>`
  }</p>
<p class="muted">${times.second(step.since)}${
    waited !== undefined && waited >= 1000 && html`, ${lasting(waited)} later`
  }${step.endpoint !== '' && html` · <code>${step.endpoint}</code>`}${step.status > 0 && html` · ${step.status}`}${
    step.status > 0 && html` · ${lasting(step.took)}`
  }</p>
${step.description !== undefined && html`<p>${step.description}</p>`}
${
  parameters.length > 0 &&
  html`<dl class="parameters">${parameters.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
</li>`;
}
