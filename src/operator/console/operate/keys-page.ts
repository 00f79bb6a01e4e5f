import type { KeyControl } from '../../../authorization-server/administration/key-control.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { span } from '../kit/span.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';

type Key = Awaited<ReturnType<KeyControl['list']>>['keys'][number];

export async function keysPage({ controls, clock, times }: ConsoleSources): Promise<ConsoleAnswer> {
  const { keys } = await controls.keys.list();
  return {
    body: html`<p>They sign ID tokens and the assertions that your backends receive. Verifiers find them at <code>/.well-known/jwks.json</code>. They are rotated on schedule (<code>keys.rotate</code>), without anything for you to do.</p>
<p><a class="button" href="${pathOf('keys', 'rotate')}">Rotate now</a></p>
<div class="cards">${keys.map((key) => card(key, times, clock()))}</div>
<p class="muted">To use a key of your own, run <code>coursegate keys import</code>.</p>`,
  };
}

const STATES = {
  signing: ['Signing', 'good', 'In use since', 'Next rotation'],
  next: ['Next', '', 'Published since', 'Signs from'],
  verifying: ['Retired', '', 'Retired since', 'Published until'],
} as const;

function card({ kid, alg, state, since, until }: Key, times: Times, now: number): Html {
  const [name, look, begun, ends] = STATES[state];
  const moment = (iso: string | undefined) => (iso === undefined ? 'unknown' : times.moment(Date.parse(iso)));
  const age = html`${moment(since)} (${span((now - Date.parse(since ?? '')) / 1000)})`;
  return html`<section class="card"><h2>${alg} <span class="badge ${look}">${name}</span></h2>
${facts([
  ['Key ID', html`<code>${kid}</code>`],
  [begun, age],
  [ends, moment(until)],
])}
<p><a href="${pathOf('keys', kid, 'remove')}">Remove<span class="visually-hidden"> ${kid}</span></a></p></section>`;
}
