import { type Html, html } from '../../../http/html.ts';
import type { Times } from '../kit/times.ts';
import { pathOfApp } from '../paths.ts';
import { BOUNDS } from './bounds.ts';
import { bad, type Concern, historyOf, LINKS, list, MOST_NAMED, warn } from './concern.ts';
import type { GateStatus, UpstreamStatus } from './gate-status.ts';

/** What is wrong with the state of the gate, in words. */
export function stateConcerns(status: GateStatus, times: Times, now: number): readonly Concern[] {
  return [...readiness(status, times), ...outages(status, times), ...notices(status, times, now)].filter(
    (one) => one !== undefined,
  );
}

const FAILED: Readonly<Record<string, (since: string) => string>> = {
  store: (since) =>
    `Members cannot sign in or connect an app: the store cannot be used${since}. Changes made here will fail until it is back. The log says why.`,
  keys: () => 'Members cannot connect an app: there is no key to sign with. The log says why.',
  drain: () => 'This gate is shutting down.',
};

function readiness({ health }: GateStatus, times: Times): readonly Concern[] {
  return health.checks
    .filter(({ ok }) => !ok)
    .map(({ name, detail, since }) => {
      const text = FAILED[name]?.(since === undefined ? '' : ` since ${times.sameDay(since)}`);
      return bad(html`${text ?? `The check ${name} fails: ${detail}.`}`);
    });
}

function outages({ upstreams }: GateStatus, times: Times): readonly Concern[] {
  const down = upstreams.filter(({ breaker }) => breaker !== 'closed').toSorted((a, b) => weight(b) - weight(a));
  const [shown, others] = [down.slice(0, MOST_NAMED), down.slice(MOST_NAMED)];
  const failing = upstreams.filter(
    ({ breaker, outage }) => breaker === 'closed' && (outage?.failures ?? 0) >= BOUNDS.unanswered,
  );
  return [
    ...shown.map((one) => bad(outage(one, times), ...historyOfOutage(one, times))),
    ...(others.length === 0
      ? []
      : [bad(html`No answer from ${list(others.map(({ name }) => html`<b>${name}</b>`))} either.`)]),
    ...failing.map(({ name, outage }) =>
      warn(
        html`<b>${name}</b> has not answered the last ${outage?.failures} requests${since(outage, times)}.`,
        ...historyOfOutage({ outage }, times),
      ),
    ),
  ];
}

/** Members first. */
const weight = ({ uses: { signIn, site, apps } }: UpstreamStatus): number =>
  (signIn ? 4 : 0) + (site ? 2 : 0) + (apps ? 1 : 0);

function outage({ name, breaker, outage, uses }: UpstreamStatus, times: Times): Html {
  const members = [uses.signIn && 'sign in', uses.site && 'open the site'].filter((one) => one !== false);
  const hit = [
    members.length > 0 && `members cannot ${members.join(' or ')}`,
    uses.apps && 'apps cannot use its API',
    uses.events && 'its events wait',
  ].filter((one) => one !== false);
  const whom = hit.length === 0 ? '' : `${capital(hit.join(', and '))}: `;
  const next =
    breaker === 'open'
      ? 'Requests to it get 503 at once; one is sent now and then to see whether it is back.'
      : 'The next request will show whether it is back.';
  return html`${whom}<b>${name}</b> has not answered${since(outage, times)}. ${next}`;
}

const historyOfOutage = ({ outage }: Pick<UpstreamStatus, 'outage'>, times: Times) =>
  outage === undefined ? [] : [historyOf(outage.since, times)];

function since(outage: UpstreamStatus['outage'], times: Times): string {
  return outage === undefined ? '' : ` since ${times.sameDay(outage.since)}`;
}

function notices(status: GateStatus, times: Times, now: number): readonly (Concern | undefined)[] {
  const { reload, events, keys, observing } = status;
  return [
    reload.refusedAt === undefined
      ? undefined
      : bad(
          html`The configuration on disk has mistakes and was not loaded at ${times.sameDay(reload.refusedAt * 1000)}. The one before it is still in use. The log lists the mistakes, and so does <code>coursegate check</code>.`,
        ),
    events && undelivered(events, times),
    keys.some(({ state, until }) => state === 'signing' && until !== undefined && now > until * 1000 + LATE)
      ? warn(html`A signing key is older than <code>keys.rotate</code>.`, LINKS.keys)
      : undefined,
    unused(status),
    observing ? warn(html`Routes are observed, not enforced: the gate refuses nothing yet.`, LINKS.observe) : undefined,
  ];
}

const LATE = BOUNDS.keysLate * 1000;

function undelivered(events: NonNullable<GateStatus['events']>, times: Times): Concern | undefined {
  const { stopped_at, last_failure, pending } = events;
  if (stopped_at !== undefined)
    return bad(html`Events are no longer sent: the backend answered 410 at ${at(stopped_at, times)}.`, LINKS.events);
  const waiting = Object.values(pending).reduce((sum, count) => sum + count, 0);
  if (last_failure === undefined || waiting === 0) return undefined;
  return warn(
    html`${waiting === 1 ? 'One event waits' : `${waiting} events wait`}: the backend did not accept the last one at ${at(last_failure.at, times)} (${last_failure.reason}).`,
    LINKS.events,
  );
}

const at = (iso: string, times: Times): string => times.sameDay(Date.parse(iso));

function unused({ unusedApps }: GateStatus): Concern | undefined {
  if (unusedApps.length === 0) return undefined;
  const names = unusedApps
    .toReversed()
    .map(({ name, clientId }) => html`<a href="${pathOfApp(clientId)}"><bdi>${name}</bdi></a>`);
  const [whose, them] =
    names.length === 1 ? ['One app never used its', 'it'] : [`${names.length} apps never used their`, 'them'];
  return warn(
    html`${whose} last three connections: ${list(names)}. The gate issued ${them} tokens that never came back: something in front of it, such as a CDN’s bot rule, may drop their requests or the Authorization field.`,
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
