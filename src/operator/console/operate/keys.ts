import type { KeyControl } from '../../../authorization-server/administration/key-control.ts';
import { GatewayError } from '../../../errors.ts';
import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import type { Clock } from '../../../storage/store.ts';
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import type { Times } from '../times.ts';
import { confirmationForm } from './confirm.ts';

export interface KeysOptions {
  readonly keys: KeyControl;
  readonly clock: Clock;
  readonly times: Times;
}

type Key = Awaited<ReturnType<KeyControl['list']>>['keys'][number];

const PATH = '/console/keys';

export function keyRoutes(options: KeysOptions): readonly ConsoleRoute[] {
  const { keys } = options;
  return [
    { method: 'GET', path: '/keys', run: () => listPage(options) },
    { method: 'GET', path: '/keys/rotate', run: (request) => Promise.resolve(rotatePage(request, keys.unknownFor())) },
    { method: 'POST', path: '/keys/rotate', run: (request) => rotate(request, options) },
    { method: 'GET', path: '/keys/:kid/remove', run: (request) => removePage(request, options) },
    {
      method: 'POST',
      path: '/keys/:kid/remove',
      run: async ({ params: { kid = '' }, decision }) => {
        await keys.remove(kid, decision);
        return { see: PATH, done: `The key ${kid} is removed. What it signed is no longer valid.` };
      },
    },
  ];
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
  signing: ['Signing', 'good'],
  next: ['Next', ''],
  verifying: ['Retired', ''],
} as const;

function card({ kid, alg, state, since, until }: Key, times: Times, now: number): Html {
  const [name, look] = STATES[state];
  const moment = (iso: string | undefined) => (iso === undefined ? 'unknown' : times.moment(Date.parse(iso)));
  const facts: Readonly<Record<Key['state'], readonly (readonly [string, HtmlValue])[]>> = {
    signing: [
      ['In use since', html`${moment(since)} (${ageOf(since, now)})`],
      ['Next rotation', moment(until)],
    ],
    next: [
      ['Published since', html`${moment(since)} (${ageOf(since, now)})`],
      ['Signs from', moment(until)],
    ],
    verifying: [
      ['Retired since', html`${moment(since)} (${ageOf(since, now)})`],
      ['Published until', moment(until)],
    ],
  };
  return html`<section class="card"><h2>${alg} <span class="badge ${look}">${name}</span></h2>
<dl class="facts"><dt>Key ID</dt><dd><code>${kid}</code></dd>${facts[state].map(
    ([term, text]) => html`<dt>${term}</dt><dd>${text}</dd>`,
  )}</dl>
<p><a href="${PATH}/${encodeURIComponent(kid)}/remove">Remove<span class="visually-hidden"> ${kid}</span></a></p></section>`;
}

/** "20 days" since then. */
function ageOf(iso: string | undefined, now: number): string {
  const minutes = Math.max(0, Math.floor((now - Date.parse(iso ?? '')) / 60_000));
  if (minutes < 1) return 'less than a minute';
  const [count, unit] =
    minutes < 120 ? [minutes, 'minute'] : minutes < 2880 ? [minutes / 60, 'hour'] : [minutes / 1440, 'day'];
  const whole = Math.floor(count);
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`;
}

function rotatePage({ csrf }: Pick<ConsoleRequest, 'csrf'>, unknownFor: number): ConsoleAnswer {
  const minutes = Math.ceil(unknownFor / 60);
  const isEarly = unknownFor > 0;
  return {
    section: 'keys',
    title: 'Rotate the signing keys',
    body: html`${
      isEarly &&
      html`<p class="notice bad">A next key was published less than an hour ago; verifiers may not have it yet, and would refuse what it signs. Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, unless a key has been compromised.</p>`
    }<p>From now on the next keys sign. What the current keys have signed stays valid: they are published for another day. New next keys are published at once.</p>
${confirmationForm({
  csrf,
  action: `${PATH}/rotate`,
  back: PATH,
  button: isEarly ? 'Rotate anyway' : 'Rotate the keys',
  isDangerous: isEarly,
  ...(isEarly && { fields: { now: 'yes' } }),
})}`,
  };
}

async function rotate({ form, csrf, decision }: ConsoleRequest, { keys }: KeysOptions): Promise<ConsoleAnswer> {
  try {
    await keys.rotate(form.now === 'yes', decision);
    return { see: PATH, done: 'The keys are rotated.' };
  } catch (thrown) {
    // They were rotated since the page was shown.
    if (thrown instanceof GatewayError && thrown.code === 'conflict') return rotatePage({ csrf }, keys.unknownFor());
    throw thrown;
  }
}

const CONSEQUENCES: Readonly<Record<Key['state'], string>> = {
  signing:
    'It stops signing at once, and the next key takes its place. ID tokens and assertions that it has signed are no longer valid.',
  next: 'It has not signed anything yet. Another next key is published at once.',
  verifying: 'It no longer signs. ID tokens and assertions that it has signed are no longer valid.',
};

async function removePage(
  { params: { kid = '' }, csrf }: ConsoleRequest,
  { keys }: KeysOptions,
): Promise<ConsoleAnswer> {
  const key = (await keys.list()).keys.find((one) => one.kid === kid);
  if (key === undefined) throw new GatewayError('not_found', { message: 'No published key has this ID.' });
  return {
    section: 'keys',
    title: 'Remove a signing key',
    body: html`<p>Remove a key only if it has been compromised. Otherwise rotate the keys, which invalidates nothing.</p>
<dl class="facts"><dt>Key ID</dt><dd><code>${kid}</code></dd><dt>Algorithm</dt><dd>${key.alg}</dd><dt>State</dt><dd>${STATES[key.state][0]}</dd></dl>
<p class="notice">${CONSEQUENCES[key.state]}</p>
${confirmationForm({
  csrf,
  action: `${PATH}/${encodeURIComponent(kid)}/remove`,
  back: PATH,
  button: 'Remove this key',
  isDangerous: true,
})}`,
  };
}
