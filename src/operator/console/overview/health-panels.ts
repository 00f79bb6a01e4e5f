import { type Html, html } from '../../../http/html.ts';
import { facts } from '../kit/facts.ts';
import { span } from '../kit/span.ts';
import { type Column, listTable } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';

const STORES: Readonly<Record<string, string>> = {
  sqlite: 'SQLite, of this gate alone',
  redis: 'Redis, shared by all replicas',
  postgres: 'PostgreSQL, shared by all replicas',
  mysql: 'MariaDB or MySQL, shared by all replicas',
  memory: 'Memory: a restart disconnects every app',
};

/**
 * Readiness, store, keys and configuration.
 * @param registration whether new apps are accepted; undefined if that cannot be read
 */
export function gatePanel(status: GateStatus, registration: Html | undefined, times: Times): Html {
  const { health, uptime, reload, config, observing } = status;
  const failed = health.checks.filter(({ ok }) => !ok);
  const mode = observing
    ? html`<span class="badge warn">observed</span>`
    : html`<span class="badge good">enforced</span>`;
  const state =
    failed.length === 0 ? html`<span class="badge good">ready</span>` : html`<span class="badge bad">not ready</span>`;
  return facts([
    ['State', html`${state} Running for ${span(uptime)}.`],
    ...failed.map(({ name, detail }) => ['', html`<span class="badge bad">failed</span> ${name}: ${detail}`] as const),
    ['Store', storeOf(status)],
    ['Keys', keysOf(status, times)],
    ['Profile', html`${config.profile}, ${config.routes} routes ${mode}`],
    [
      'In use since',
      html`${times.moment(reload.takenAt * 1000)}, <code>${reload.fingerprint}</code>${reload.refusedAt !== undefined && html` <span class="badge bad">newer one refused</span>`}`,
    ],
    ['New apps', registration ?? 'This cannot be read right now.'],
  ]);
}

function keysOf({ keys }: GateStatus, times: Times): Html {
  const signing = keys.filter(({ state }) => state === 'signing');
  const next = Math.min(...signing.flatMap(({ until }) => until ?? []));
  const names = signing.map(({ publicKey }) => publicKey.alg).join(' and ');
  return html`<a href="${pathOf('keys')}">${names}</a>${Number.isFinite(next) && html`, next rotation ${times.date(next * 1000)}`}`;
}

function storeOf({ store: { kind, bytes } }: GateStatus): string {
  return `${STORES[kind] ?? kind}${bytes === undefined ? '' : `, ${Math.ceil(bytes / 2 ** 20)} MiB`}`;
}

export function upstreamsPanel({ upstreams }: GateStatus, times: Times): Html {
  return listTable({ label: 'Upstreams', rows: upstreams, columns: columns(times) });
}

const columns = (times: Times): readonly Column<UpstreamStatus>[] => [
  { title: 'Upstream', cell: ({ name }) => name },
  { title: 'Address', cell: ({ origin }) => origin, phone: false },
  {
    title: 'State',
    cell: ({ breaker, outage }) =>
      breaker === 'closed'
        ? html`<span class="badge good">working</span>`
        : html`<span class="badge bad">${breaker === 'open' ? 'failing' : 'not back yet'}</span>${outage && ` since ${times.sameDay(outage.since)}`}`,
  },
  {
    title: 'Active',
    cell: ({ requests, streams }) => html`<span class="wide">${requests + streams}</span>`,
    isNumber: true,
  },
];
