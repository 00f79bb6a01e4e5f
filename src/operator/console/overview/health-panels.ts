import { fold } from '../../../authorization-server/pages/fold.ts';
import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { facts } from '../kit/facts.ts';
import { span } from '../kit/span.ts';
import { type Column, listTable } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';
import { stateText, worstFirst } from './state-concerns.ts';

/**
 * Readiness, store, keys and configuration.
 * @param registration whether new apps are accepted; undefined if that cannot be read
 */
export function gatePanel(status: GateStatus, registration: Html | undefined, times: Times): Html {
  const { health, uptime, reload, config, observing } = status;
  const { kind, bytes } = status.store;
  const state = health.checks.every(({ ok }) => ok) ? badge('good', 'ready') : badge('bad', 'not ready');
  return facts([
    ['State', html`${state} Running for ${span(uptime)}.`],
    [
      'Store',
      html`${stateText(`store ${kind}`) ?? kind}${bytes !== undefined && `, ${Math.ceil(bytes / 2 ** 20)} MiB`}`,
    ],
    ['Keys', keysOf(status, times)],
    [
      'Profile',
      html`${config.profile}, ${counted(config.routes, 'route')} ${observing ? badge('warn', 'observed') : badge('good', 'enforced')}`,
    ],
    [
      'In use since',
      html`${times.moment(reload.takenAt * 1000)}, <code>${reload.fingerprint}</code>${reload.refusedAt !== undefined && html` ${badge('bad', 'newer one refused')}`}`,
    ],
    ['New apps', registration ?? 'This cannot be read right now.'],
  ]);
}

const badge = (look: 'good' | 'warn' | 'bad', text: string): Html => html`<span class="badge ${look}">${text}</span>`;

function keysOf({ keys }: GateStatus, times: Times): Html {
  const signing = keys.filter(({ state }) => state === 'signing');
  const next = Math.min(...signing.flatMap(({ until }) => until ?? []));
  const names = signing.map(({ publicKey }) => publicKey.alg).join(' and ');
  return html`<a href="${pathOf('keys')}">${names}</a>${Number.isFinite(next) && html`, next rotation ${times.date(next * 1000)}`}`;
}

/** The most upstreams in sight. */
const MOST_SHOWN = 3;

export function upstreamsPanel({ upstreams }: GateStatus, times: Times): Html {
  const { shown, rest } = fold(worstFirst(upstreams), MOST_SHOWN);
  const table = (label: string, rows: typeof rest) => listTable({ label, rows, columns: columns(times) });
  const failing = rest.filter(({ breaker }) => breaker !== 'closed').length;
  return html`${table('Upstreams', shown)}
${rest.length > 0 && html`<details><summary>${rest.length} more${failing > 0 && `, ${failing} of them failing`}</summary>${table('More upstreams', rest)}</details>`}`;
}

const columns = (times: Times): readonly Column<UpstreamStatus>[] => [
  { title: 'Upstream', cell: ({ name }) => name },
  {
    title: 'State',
    cell: ({ breaker, outage }) =>
      breaker === 'closed'
        ? badge('good', 'working')
        : html`${badge('bad', breaker === 'open' ? 'failing' : 'not back yet')}${outage && ` since ${times.sameDay(outage.since)}`}`,
  },
  {
    title: 'Active',
    cell: ({ requests, streams }) => html`<span class="wide">${requests + streams}</span>`,
    isNumber: true,
  },
  { title: 'Address', cell: ({ origin }) => origin, phone: false },
];
