import type { KeyControl } from '../../../authorization-server/administration/key-control.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Clock } from '../../../storage/store.ts';
import type { ConsoleAnswer, ConsoleRoute } from '../console-route.ts';
import { facts } from '../facts.ts';
import { span } from '../span.ts';
import type { Times } from '../times.ts';

export interface KeysOptions {
  readonly keys: KeyControl;
  readonly clock: Clock;
  readonly times: Times;
}

type Key = Awaited<ReturnType<KeyControl['list']>>['keys'][number];

const PATH = '/console/keys';

export function keyRoutes(options: KeysOptions): readonly ConsoleRoute[] {
  return [{ method: 'GET', path: '/keys', run: () => listPage(options) }];
}

async function listPage({ keys, clock, times }: KeysOptions): Promise<ConsoleAnswer> {
  const { keys: listed } = await keys.list();
  return {
    section: 'keys',
    title: 'Signing keys',
    body: html`<p>They sign ID tokens and the assertions that your backends receive. Verifiers find them at <code>/.well-known/jwks.json</code>. They are rotated on schedule (<code>keys.rotate</code>), without anything for you to do.</p>
<p><a class="button" href="${PATH}/rotate">Rotate now</a></p>
<div class="cards">${listed.map((key) => card(key, times, clock()))}</div>
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
<p><a href="${PATH}/${encodeURIComponent(kid)}/remove">Remove<span class="visually-hidden"> ${kid}</span></a></p></section>`;
}
