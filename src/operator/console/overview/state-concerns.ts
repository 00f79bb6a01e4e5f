import { type Html, html } from '../../../http/html.ts';
import type { Health } from '../../../operations/health.ts';
import { filled } from '../../texts.ts';
import { pathOfTime } from '../history/range.ts';
import { appLink } from '../kit/links.ts';
import type { Times } from '../kit/times.ts';
import { wordsOf } from '../kit/words.ts';
import { pathOf } from '../paths.ts';
import { BOUNDS } from './bounds.ts';
import { bad, type Concern, warn } from './concern.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';

/** Of the state of the gate. */
export const stateText = wordsOf('overview/state.yaml');

/** What is wrong with the state of the gate. `now` is in milliseconds. */
export function stateConcerns(status: GateStatus, times: Times, now: number): readonly Concern[] {
  const { health, upstreams, reload, events, keys, unusedApps, observing } = status;
  const pending = Object.values(events?.pending ?? {}).reduce((sum, count) => sum + count, 0);
  const seeEvents = { path: pathOf('events'), name: 'Events' };
  const all = [
    ...health.checks.filter(({ ok }) => !ok).map((check) => failedCheck(check, times)),
    ...outages(upstreams, times),
    reload.refusedAt !== undefined &&
      bad(
        html`The configuration on disk has mistakes and was not loaded at ${times.sameDay(reload.refusedAt * 1000)}: the one before it is still in use. <code>coursegate check</code> lists the mistakes.`,
      ),
    events?.stopped_at !== undefined
      ? bad(
          html`Events are no longer sent: the backend answered 410 at ${times.sameDay(Date.parse(events.stopped_at))}.`,
          seeEvents,
        )
      : events?.last_failure !== undefined &&
        pending > 0 &&
        warn(
          html`${pending === 1 ? 'One event waits' : `${pending} events wait`}: the backend did not accept the last one at ${times.sameDay(Date.parse(events.last_failure.at))} (${events.last_failure.reason}).`,
          seeEvents,
        ),
    keys.some(({ state, until }) => state === 'signing' && until && now / 1000 > until + BOUNDS.keysLate) &&
      warn(html`A signing key is older than <code>keys.rotate</code>.`, { path: pathOf('keys'), name: 'Keys' }),
    unusedApps.length > 0 &&
      warn(
        html`The last three connections of ${listed(unusedApps.toReversed().map(({ name, clientId }) => appLink({ id: clientId, name })))} were never used. Something in front of the gate, such as a CDN’s bot rule, may drop their requests or the Authorization field.`,
      ),
    observing &&
      warn(
        html`Routes are observed, not enforced: the gate refuses nothing yet. <a href="${pathOf('observe')}">Observe mode</a>`,
      ),
  ];
  return all.filter((one) => one !== false && one !== undefined);
}

function failedCheck({ name, detail, since }: Health['checks'][number], times: Times): Concern {
  const when = since === undefined ? '' : ` since ${times.sameDay(since)}`;
  return bad(
    html`${filled(stateText(`check ${name}`) ?? 'The check {name} fails: {detail}.', { name, detail, when })}`,
  );
}

/** Those that fail first, and of them those that members need. */
export function worstFirst(upstreams: readonly UpstreamStatus[]): readonly UpstreamStatus[] {
  const weight = ({ breaker, outage, uses: { signIn, site, apps } }: UpstreamStatus) =>
    (breaker === 'closed' ? 0 : 16) + (outage ? 8 : 0) + (signIn ? 4 : 0) + (site ? 2 : 0) + (apps ? 1 : 0);
  return upstreams.toSorted((a, b) => weight(b) - weight(a));
}

/** Upstreams that are down with a concern each, before one says how many more are. */
const MOST_ALONE = 2;

function outages(upstreams: readonly UpstreamStatus[], times: Times): readonly Concern[] {
  const failing = worstFirst(upstreams).filter(
    ({ breaker, outage }) => breaker !== 'closed' || (outage?.failures ?? 0) >= BOUNDS.unanswered,
  );
  const alone = failing.slice(0, MOST_ALONE).map((one) => outage(one, times));
  const rest = failing.slice(MOST_ALONE);
  if (rest.length === 0) return alone;
  const names = listed(rest.map(({ name }) => html`<b>${name}</b>`));
  const text = html`${whomItHits(rest.filter(({ breaker }) => breaker !== 'closed'))}${names} ${rest.length > 1 ? 'have' : 'has'} not answered either.`;
  return [...alone, (rest[0]?.breaker === 'closed' ? warn : bad)(text, { path: '#upstreams', name: 'All upstreams' })];
}

/** An upstream that its breaker leaves alone, or that is about to be. */
function outage(upstream: UpstreamStatus, times: Times): Concern {
  const { name, breaker, outage } = upstream;
  const since = outage && ` since ${times.sameDay(outage.since)}`;
  const see = outage && { path: pathOfTime(outage.since, times), name: 'History' };
  return breaker === 'closed'
    ? warn(html`<b>${name}</b> has not answered the last ${outage?.failures} requests${since}.`, see)
    : bad(html`${whomItHits([upstream])}<b>${name}</b> has not answered${since}.`, see);
}

function whomItHits(upstreams: readonly UpstreamStatus[]): string {
  const hits = (what: string, ...by: (keyof UpstreamStatus['uses'])[]) =>
    upstreams.some(({ uses }) => by.some((use) => uses[use])) ? [what] : [];
  const its = upstreams.length > 1 ? 'their' : 'its';
  const members = [...hits('sign in', 'signIn'), ...hits('open the site', 'site')].join(' or ');
  const hit = [
    ...hits(`members cannot ${members}`, 'signIn', 'site'),
    ...hits(`apps cannot use ${its} API`, 'apps'),
    ...hits(`${its} events wait`, 'events'),
  ].join(', and ');
  return hit && `${hit.charAt(0).toUpperCase()}${hit.slice(1)}: `;
}

/** How many of a list are named before it says how many more there are. */
const MOST_NAMED = 2;

function listed(names: readonly Html[]): Html {
  const more = names.length - MOST_NAMED;
  return html`${names.slice(0, MOST_NAMED).map((name, at) => html`${at > 0 && ', '}${name}`)}${more > 0 && ` and ${more} more`}`;
}
