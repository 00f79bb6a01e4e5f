import { type Html, html } from '../../../http/html.ts';
import { facts } from '../kit/facts.ts';
import { span } from '../kit/span.ts';
import { table } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { type Concern, concernsOf } from './attention.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';

const CHECKS: Readonly<Record<string, string>> = {
  config: 'Configuration',
  store: 'Store',
  keys: 'Signing keys',
  drain: 'Traffic',
};

/** Checks that have their own card. */
const CARDS: Readonly<Record<string, true>> = { config: true, keys: true };

const STORES: Readonly<Record<string, string>> = {
  sqlite: 'SQLite, of this gate alone',
  redis: 'Redis, shared by all replicas',
  memory: 'Memory: a restart disconnects every app',
};

const BREAKERS: Readonly<Record<UpstreamStatus['breaker'], readonly [badge: string, text: string]>> = {
  closed: ['good', 'working'],
  open: ['bad', 'failing'],
  half_open: ['warn', 'being tried'],
};

/** What needs attention first. `now` is in Unix seconds. */
export function attention(status: GateStatus, now: number): Html {
  const concerns = concernsOf(status, now);
  if (concerns.length === 0) return html`<p class="notice good">Everything works. Nothing needs your attention.</p>`;
  return html`<ul class="concerns" aria-label="Needs attention">
${concerns.map(concern)}</ul>`;
}

function concern({ level, text, see }: Concern): Html {
  return html`<li class="notice ${level}">${text}${see !== undefined && html` <a href="${see.path}">${see.name}</a>`}</li>
`;
}

/** The gate's own state, as cards. */
export function healthCards(status: GateStatus, times: Times): Html {
  return html`<div class="cards">
<section class="card"><h2>Health</h2>
${readiness(status)}</section>
<section class="card"><h2>Configuration</h2>
${configuration(status, times)}</section>
<section class="card"><h2>Signing keys</h2>
${signingKeys(status, times)}</section>
<section class="card"><h2>Upstreams</h2>
${upstreams(status.upstreams)}</section>
</div>`;
}

function readiness({ health, store, uptime }: GateStatus): Html {
  return html`<p>${health.ok ? html`<span class="badge good">ready</span>` : html`<span class="badge bad">not ready</span>`} Running for ${span(uptime)}.</p>
${facts(
  health.checks
    .filter(({ name, ok }) => !(ok && name in CARDS))
    .map(({ name, ok, detail }) => [
      CHECKS[name] ?? name,
      ok ? detailOf(name, detail, store) : html`<span class="badge bad">failed</span> ${detail}`,
    ]),
)}`;
}

function detailOf(check: string, detail: string, { kind, bytes }: GateStatus['store']): string {
  if (check !== 'store') return detail;
  return `${STORES[kind] ?? kind}${bytes === undefined ? '' : `, ${roundedSize(bytes)}`}`;
}

function configuration({ reload, config, observing }: GateStatus, times: Times): Html {
  const { successful, takenAt, fingerprint } = reload;
  const enforced = observing
    ? html`<span class="badge warn">observed</span>`
    : html`<span class="badge good">enforced</span>`;
  return facts([
    ['Profile', config.profile],
    ['Routes', html`${config.routes} ${enforced}`],
    ['In use since', times.moment(takenAt * 1000)],
    [
      'Last reload',
      successful ? 'succeeded, or none yet' : html`<span class="badge bad">failed</span> the one before is in use`,
    ],
    ['Fingerprint', html`<code>${fingerprint}</code>`],
  ]);
}

function signingKeys({ keys }: GateStatus, times: Times): Html {
  const signing = keys.filter(({ state }) => state === 'signing');
  return table({
    label: 'Signing keys',
    columns: ['Key', 'Signs since', 'Next rotation'],
    rows: signing.map(
      ({ kid, since, until, publicKey }) =>
        html`<tr><th scope="row">${publicKey.alg}<small><code>${kid.slice(0, 8)}…</code></small></th><td>${times.date(since * 1000)}</td><td>${until === undefined ? 'unknown' : times.date(until * 1000)}</td></tr>`,
    ),
  });
}

function upstreams(all: readonly UpstreamStatus[]): Html {
  return table({
    label: 'Upstreams',
    columns: ['Upstream', 'State', 'In progress'],
    rows: all.map(({ name, origin, breaker, requests, streams }) => {
      const [badge, text] = BREAKERS[breaker];
      return html`<tr><th scope="row">${name}<small>${origin}</small></th><td><span class="badge ${badge}">${text}</span></td><td>${requests} requests<small>${streams} streams</small></td></tr>`;
    }),
  });
}

function roundedSize(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
