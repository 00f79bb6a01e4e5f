import { type Html, html } from '../../http/html.ts';
import { type Concern, concernsOf } from './attention.ts';
import { facts } from './facts.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';
import { span } from './span.ts';
import type { Times } from './times.ts';

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
  return html`<table>
<thead><tr><th scope="col">Key</th><th scope="col">Signs since</th><th scope="col">Next rotation</th></tr></thead>
<tbody>
${signing.map(
  ({ kid, since, until, publicKey }) =>
    html`<tr><th scope="row">${publicKey.alg}<small><code>${kid.slice(0, 8)}…</code></small></th><td>${times.date(since * 1000)}</td><td>${until === undefined ? 'unknown' : times.date(until * 1000)}</td></tr>
`,
)}</tbody>
</table>`;
}

function upstreams(all: readonly UpstreamStatus[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Upstreams"><table>
<thead><tr><th scope="col">Upstream</th><th scope="col">State</th><th scope="col">In progress</th></tr></thead>
<tbody>
${all.map(({ name, origin, breaker, requests, streams }) => {
  const [badge, text] = BREAKERS[breaker];
  return html`<tr><th scope="row">${name}<small>${origin}</small></th><td><span class="badge ${badge}">${text}</span></td><td>${requests} requests<small>${streams} streams</small></td></tr>
`;
})}</tbody>
</table></div>`;
}

function roundedSize(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}
