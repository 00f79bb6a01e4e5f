import { type Html, html } from '../../../http/html.ts';
import type { Health } from '../../../operations/health.ts';
import type { UnusedApp } from '../../../operations/unused-tokens.ts';
import { pathOfTime } from '../history/range.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, pathOfApp } from '../paths.ts';
import { BOUNDS } from './bounds.ts';
import { bad, type Concern, warn } from './concern.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';

/** What is wrong with the state of the gate. `now` is in milliseconds. */
export function stateConcerns(status: GateStatus, times: Times, now: number): readonly Concern[] {
  const { health, upstreams, reload, events, keys, unusedApps, observing } = status;
  const pending = Object.values(events?.pending ?? {}).reduce((sum, count) => sum + count, 0);
  const at = (iso: string) => times.sameDay(Date.parse(iso));
  const [seeEvents, seeObserve] = [
    { path: pathOf('events'), name: 'Events' },
    { path: pathOf('observe'), name: 'Observe mode' },
  ];
  const isLate = (until = Number.POSITIVE_INFINITY) => now / 1000 > until + BOUNDS.keysLate;
  const all = [
    ...health.checks.filter(({ ok }) => !ok).map((check) => failedCheck(check, times)),
    ...upstreams.toSorted((a, b) => weight(b) - weight(a)).map((one) => outage(one, times)),
    reload.refusedAt !== undefined &&
      bad(
        html`The configuration on disk has mistakes and was not loaded at ${times.sameDay(reload.refusedAt * 1000)}. The one before it is still in use. The log lists the mistakes, and so does <code>coursegate check</code>.`,
      ),
    events?.stopped_at !== undefined &&
      bad(html`Events are no longer sent: the backend answered 410 at ${at(events.stopped_at)}.`, seeEvents),
    events?.stopped_at === undefined &&
      events?.last_failure !== undefined &&
      pending > 0 &&
      warn(
        html`${pending === 1 ? 'One event waits' : `${pending} events wait`}: the backend did not accept the last one at ${at(events.last_failure.at)} (${events.last_failure.reason}).`,
        seeEvents,
      ),
    keys.some(({ state, until }) => state === 'signing' && isLate(until)) &&
      warn(html`A signing key is older than <code>keys.rotate</code>.`, { path: pathOf('keys'), name: 'Keys' }),
    unusedApps.length > 0 && warn(unused(unusedApps)),
    observing && warn(html`Routes are observed, not enforced: the gate refuses nothing yet.`, seeObserve),
  ];
  return all.filter((one) => one !== false && one !== undefined);
}

function failedCheck({ name, detail, since }: Health['checks'][number], times: Times): Concern {
  const when = since === undefined ? '' : ` since ${times.sameDay(since)}`;
  const known: Readonly<Record<string, string>> = {
    store: `Members cannot sign in or connect an app: the store cannot be used${when}. Changes made here will fail until it is back. The log says why.`,
    keys: 'Members cannot connect an app: there is no key to sign with. The log says why.',
    drain: 'This gate is shutting down.',
  };
  return bad(html`${known[name] ?? `The check ${name} fails: ${detail}.`}`);
}

/** Members first. */
const weight = ({ uses: { signIn, site, apps } }: UpstreamStatus): number =>
  (signIn ? 4 : 0) + (site ? 2 : 0) + (apps ? 1 : 0);

/** An upstream that its breaker leaves alone, or that is about to be. */
function outage({ name, breaker, outage, uses }: UpstreamStatus, times: Times): Concern | undefined {
  const since = outage && ` since ${times.sameDay(outage.since)}`;
  const see = outage && { path: pathOfTime(outage.since, times), name: 'History' };
  if (breaker !== 'closed') {
    const next =
      breaker === 'open'
        ? 'Requests to it get 503 at once; one is sent now and then to see whether it is back.'
        : 'The next request will show whether it is back.';
    return bad(html`${whomItHits(uses)}<b>${name}</b> has not answered${since}. ${next}`, see);
  }
  if (outage === undefined || outage.failures < BOUNDS.unanswered) return undefined;
  return warn(html`<b>${name}</b> has not answered the last ${outage.failures} requests${since}.`, see);
}

function whomItHits({ signIn, site, apps, events }: UpstreamStatus['uses']): string {
  const members = [signIn && 'sign in', site && 'open the site'].filter((one) => one !== false);
  const hit = [
    members.length > 0 && `members cannot ${members.join(' or ')}`,
    apps && 'apps cannot use its API',
    events && 'its events wait',
  ].filter((one) => one !== false);
  const text = hit.join(', and ');
  return hit.length === 0 ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}: `;
}

/** Apps that are named before it says how many more. */
const MOST_NAMED = 5;

function unused(apps: readonly UnusedApp[]): Html {
  const names = apps
    .toReversed()
    .slice(0, MOST_NAMED)
    .map(({ name, clientId }, at) => html`${at > 0 && ', '}<a href="${pathOfApp(clientId)}"><bdi>${name}</bdi></a>`);
  const more = apps.length - names.length;
  return html`The last three connections of ${names}${more > 0 && ` and ${more} more`} were never used: the gate issued tokens that never came back. Something in front of it, such as a CDN’s bot rule, may drop the requests of the app or the Authorization field.`;
}
