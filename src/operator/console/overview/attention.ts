import { ROOT } from '../paths.ts';
import type { GateStatus } from './gate-status.ts';

/** What an operator should look at. */
export interface Concern {
  readonly level: 'bad' | 'warn';
  readonly text: string;
  /** A page of the console that helps. */
  readonly see?: { readonly path: string; readonly name: string };
}

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
/** Names in a sentence before it says how many more. */
const MOST_NAMED = 5;
/** Seconds by which a rotation may be late before it is worth a word: maintenance rotates within minutes. */
const LATE = 3600;

/** In words, the worst first. */
export function concernsOf(status: GateStatus, now: number): readonly Concern[] {
  const concerns = [...readiness(status), ...upstreams(status), ...notices(status, now)];
  return [...concerns.filter(({ level }) => level === 'bad'), ...concerns.filter(({ level }) => level === 'warn')];
}

const FAILED: Readonly<Record<string, string>> = {
  store:
    'The store cannot be used. Members cannot sign in or connect an app, and changes made here will fail, until it is back. The log says why.',
  keys: 'There is no key to sign with. The log says why.',
  drain: 'This gate is shutting down.',
};

function readiness({ health }: GateStatus): readonly Concern[] {
  return health.checks
    .filter(({ ok }) => !ok)
    .map(({ name, detail }) => ({ level: 'bad', text: FAILED[name] ?? `The check ${name} fails: ${detail}.` }));
}

function upstreams({ upstreams }: GateStatus): readonly Concern[] {
  const named = (state: 'open' | 'half_open') =>
    upstreams.filter(({ breaker }) => breaker === state).map((one) => one.name);
  const [open, trying] = [named('open'), named('half_open')];
  return [
    ...(open.length === 0
      ? []
      : [
          {
            level: 'bad',
            text: `${counted(open.length, 'upstream is', 'upstreams are')} failing: ${list(open)}. Requests to ${open.length === 1 ? 'it' : 'them'} get 503 at once, and one is sent now and then to see whether ${open.length === 1 ? 'it is' : 'they are'} back.`,
          } as const,
        ]),
    ...(trying.length === 0
      ? []
      : [
          {
            level: 'warn',
            text: `${counted(trying.length, 'upstream has', 'upstreams have')} failed, and the next request will show whether ${trying.length === 1 ? 'it is' : 'they are'} back: ${list(trying)}.`,
          } as const,
        ]),
  ];
}

function notices({ reload, events, keys, observing, unusedApps }: GateStatus, now: number): readonly Concern[] {
  const concerns: Concern[] = [];
  const page = (name: string, section: string) => ({ path: `${ROOT}/${section}`, name });
  if (!reload.successful)
    concerns.push({
      level: 'bad',
      text: 'The configuration on disk has mistakes and was not loaded. The one before it is still in use. The log lists the mistakes, and so does coursegate check.',
    });
  if (events?.stopped_at !== undefined)
    concerns.push({
      level: 'bad',
      text: 'The backend answered 410, so events are no longer sent.',
      see: page('Events', 'events'),
    });
  else if (events?.last_failure !== undefined && waiting(events) > 0)
    concerns.push({
      level: 'warn',
      text: `${counted(waiting(events), 'event waits', 'events wait')} because the backend did not accept the last one.`,
      see: page('Events', 'events'),
    });
  if (keys.some(({ state, until }) => state === 'signing' && until !== undefined && now > until + LATE))
    concerns.push({ level: 'warn', text: 'A signing key is older than keys.rotate.', see: page('Keys', 'keys') });
  if (unusedApps > 0)
    concerns.push({
      level: 'warn',
      text: `${counted(unusedApps, 'app never uses', 'apps never use')} the tokens it gets. Something in front of the gate may drop the Authorization header; the log names the apps.`,
      see: page('Connections', 'connections'),
    });
  if (observing)
    concerns.push({
      level: 'warn',
      text: 'Routes are observed, not enforced: the gate refuses nothing yet.',
      see: page('Observe mode', 'observe'),
    });
  return concerns;
}

function waiting({ pending }: { readonly pending: Readonly<Record<string, number>> }): number {
  return Object.values(pending).reduce((sum, count) => sum + count, 0);
}

/** "Two upstreams are", "12 upstreams are". */
function counted(count: number, one: string, many: string): string {
  return `${NUMBERS[count] ?? count} ${count === 1 ? one : many}`;
}

/** "a, b and c". */
function list(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const more = names.length - shown.length;
  const parts = more === 0 ? shown : [...shown, `${more} more`];
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}
