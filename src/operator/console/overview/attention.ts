import { pathOf } from '../paths.ts';
import type { GateStatus } from './gate-status.ts';

/** What an operator should look at. */
export interface Concern {
  readonly level: 'bad' | 'warn';
  readonly text: string;
  /** A page of the console that helps. */
  readonly see?: { readonly path: string; readonly name: string } | undefined;
}

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten'];
/** Names in a sentence before it says how many more. */
const MOST_NAMED = 5;
/** Seconds by which a rotation may be late before the page mentions it: maintenance rotates within minutes. */
const LATE = 3600;

/** In words, the worst first. */
export function concernsOf(status: GateStatus, now: number): readonly Concern[] {
  const all = [...readiness(status), ...upstreams(status), ...notices(status, now)].filter((one) => one !== false);
  return all.toSorted((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

const LEVELS: readonly Concern['level'][] = ['bad', 'warn'];
const bad = (text: string, see?: Concern['see']): Concern => ({ level: 'bad', text, see });
const warn = (text: string, see?: Concern['see']): Concern => ({ level: 'warn', text, see });

const FAILED: Readonly<Record<string, string>> = {
  store:
    'The store cannot be used. Members cannot sign in or connect an app, and changes made here will fail, until it is back. The log says why.',
  keys: 'There is no key to sign with. The log says why.',
  drain: 'This gate is shutting down.',
};

function readiness({ health }: GateStatus): readonly Concern[] {
  return health.checks
    .filter(({ ok }) => !ok)
    .map(({ name, detail }) => bad(FAILED[name] ?? `The check ${name} fails: ${detail}.`));
}

function upstreams({ upstreams }: GateStatus): readonly (Concern | false)[] {
  const named = (state: 'open' | 'half_open') =>
    upstreams.filter(({ breaker }) => breaker === state).map(({ name }) => name);
  const back = ({ length }: readonly string[]) => (length === 1 ? 'it is back' : 'they are back');
  const [open, trying] = [named('open'), named('half_open')];
  return [
    open.length > 0 &&
      bad(
        `${counted(open.length, 'upstream is', 'upstreams are')} failing: ${list(open)}. Requests to ${open.length === 1 ? 'it' : 'them'} get 503 at once, and one is sent now and then to see whether ${back(open)}.`,
      ),
    trying.length > 0 &&
      warn(
        `${counted(trying.length, 'upstream has', 'upstreams have')} failed, and the next request will show whether ${back(trying)}: ${list(trying)}.`,
      ),
  ];
}

const EVENTS = { path: pathOf('events'), name: 'Events' };
const KEYS = { path: pathOf('keys'), name: 'Keys' };
const CONNECTIONS = { path: pathOf('connections'), name: 'Connections' };
const OBSERVE = { path: pathOf('observe'), name: 'Observe mode' };

function notices(status: GateStatus, now: number): readonly (Concern | false)[] {
  const { reload, events, keys, observing, unusedApps } = status;
  const pending = events === undefined ? 0 : waiting(events);
  const hasStopped = events?.stopped_at !== undefined;
  return [
    !reload.successful &&
      bad(
        'The configuration on disk has mistakes and was not loaded. The one before it is still in use. The log lists the mistakes, and so does coursegate check.',
      ),
    hasStopped && bad('The backend answered 410, so events are no longer sent.', EVENTS),
    !hasStopped &&
      events?.last_failure !== undefined &&
      pending > 0 &&
      warn(
        `${counted(pending, 'event waits', 'events wait')} because the backend did not accept the last one.`,
        EVENTS,
      ),
    keys.some(({ state, until }) => state === 'signing' && until !== undefined && now > until + LATE) &&
      warn('A signing key is older than keys.rotate.', KEYS),
    unusedApps.length > 0 &&
      warn(
        `${counted(unusedApps.length, 'app', 'apps')} never used the last three connections: ${list(unusedApps.map(({ name }) => name))}. Something in front of the gate may drop the Authorization header.`,
        CONNECTIONS,
      ),
    observing && warn('Routes are observed, not enforced: the gate refuses nothing yet.', OBSERVE),
  ];
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
