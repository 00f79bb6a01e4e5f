import { randomBytes } from 'node:crypto';
import {
  type AttemptStep,
  addStep,
  type ConnectionAttempt,
  factOf,
  isDiscovery,
  isOfApp,
  isRefused,
} from './attempt.ts';
import { createBeginnings } from './beginnings.ts';
import { type AttemptStage, QUOTAS, stageOf } from './stage.ts';

/** How long an app may take between two requests that only its address and user agent join, in milliseconds. */
const WINDOW = 600_000;

/** Where an attempt is found. The last attempt with a key is the one that is found. */
type Key = string;

interface Held {
  readonly attempt: ConnectionAttempt;
  readonly keys: Set<Key>;
  /** Where its first step came from. */
  readonly network: string;
  stage: AttemptStage;
}

/**
 * Joins steps to attempts: by grant and interaction where they are known, then by client_id, and before that by network
 * address and user agent. At most 1,000 attempts are held; see `QUOTAS`.
 * @param changed - called with each attempt that has changed, or that is no longer held
 */
export function createAttempts(changed: (attempt: ConnectionAttempt, held: boolean) => void = () => {}) {
  const held = new Map<string, Held>();
  const byKey = new Map<Key, Held>();
  const mayBegin = createBeginnings();

  const at = (key: Key | undefined): Held | undefined => (key === undefined ? undefined : byKey.get(key));
  const point = (to: Held, keys: readonly Key[]) => {
    for (const key of keys) {
      byKey.set(key, to);
      to.keys.add(key);
    }
  };
  const release = (one: Held) => {
    held.delete(one.attempt.id);
    for (const key of one.keys) if (byKey.get(key) === one) byKey.delete(key);
    changed(one.attempt, false);
  };
  const begin = (step: AttemptStep, id = randomBytes(12).toString('base64url')): Held => {
    const begun: Held = {
      attempt: { id, steps: [], left: 0 },
      keys: new Set(),
      network: step.network,
      stage: 'begun',
    };
    held.set(id, begun);
    return begun;
  };

  /** The attempt that a step belongs to; undefined if it begins another one. */
  const find = (step: AttemptStep): Held | undefined =>
    strongKeys(step).map(at).find(Boolean) ?? ofClient(step, at) ?? ofOldToken(step) ?? ofAddress(step, at);

  /** An old token does not say whose it is. On a member's own device, the app is still the only one of its kind. */
  const ofOldToken = (step: AttemptStep): Held | undefined => {
    if (!isOldToken(step)) return undefined;
    const key = agentKey(step);
    const sharing = [...held.values()].filter(({ keys }) => keys.has(key));
    const alone = sharing.length === 1 ? at(key) : undefined;
    return alone?.attempt.steps.some(({ kind }) => kind === 'token') === true ? alone : undefined;
  };

  const merge = (one: Held, other: Held): void => {
    const keys = [...other.keys];
    release(other);
    one.attempt.steps = [...other.attempt.steps, ...one.attempt.steps].sort((a, b) => a.since - b.since);
    one.attempt.left += other.attempt.left;
    point(one, keys);
  };

  /** Takes in what the same app did before its client_id was known. */
  const absorb = (one: Held, step: AttemptStep): void => {
    const other = isOfApp(step) ? at(agentKey(step)) : undefined;
    if (
      other === undefined ||
      other === one ||
      !other.attempt.steps.every((one) => isDiscovery(one) || isOldToken(one))
    )
      return;
    if (step.at - lastOf(other.attempt).at > WINDOW) return;
    merge(one, other);
  };

  const pointAt = (one: Held, step: AttemptStep): void => {
    const client = step.clientId === undefined ? [] : [clientKey(step.clientId)];
    const agent = isOfApp(step) ? [agentKey(step)] : [];
    point(one, [...strongKeys(step), ...client, ...agent]);
    if (isDiscovery(step)) point(one, [networkKey(step)]);
  };

  const keep = (one: Held, step: AttemptStep): void => {
    absorb(one, step);
    addStep(one.attempt, step);
    pointAt(one, step);
    one.stage = stageOf(one.attempt);
    changed(one.attempt, true);
    const over = crowdedOut(held, one);
    if (over !== undefined) release(over);
  };

  return {
    /** Adds a step to its attempt, or begins one with it. Steps that tell nothing by themselves begin none. */
    add(step: AttemptStep): void {
      const found = find(step);
      if (found === undefined && !(begins(step) && mayBegin(step))) return;
      keep(found ?? begin(step), step);
    },

    /** Adds what another process has recorded of an attempt, without the shares: it is bounded where it is read. */
    addRecorded({ id, steps, left }: ConnectionAttempt): void {
      const [begun] = steps;
      if (begun === undefined) return;
      const first = { ...begun, clientId: factOf({ steps }, 'clientId') };
      const known = new Set(steps.flatMap(strongKeys).flatMap((key) => at(key) ?? []));
      const [found = ofClient(first, at) ?? ofAddress(first, at), ...others] = known;
      const one = found ?? begin(first, id);
      for (const other of others) merge(one, other);
      for (const step of steps) {
        absorb(one, step);
        pointAt(one, step);
      }
      one.attempt.left += left;
      one.attempt.steps = [...one.attempt.steps, ...steps].sort((a, b) => a.since - b.since);
    },

    all: (): readonly ConnectionAttempt[] => [...held.values()].map(({ attempt }) => attempt),

    /** Releases what nothing has been added to since then, in milliseconds since the epoch. */
    releaseBefore(time: number): void {
      for (const one of [...held.values()]) if (lastOf(one.attempt).at < time) release(one);
    },
  };
}

function strongKeys({ grantId, interaction, page }: AttemptStep): readonly Key[] {
  return [
    ...(grantId === undefined ? [] : [`grant ${grantId}`]),
    ...(interaction === undefined ? [] : [`interaction ${interaction}`]),
    ...(page === undefined ? [] : [`page ${page}`]),
  ];
}

const clientKey = (clientId: string): Key => `client ${clientId}`;
const agentKey = ({ network, userAgent }: AttemptStep): Key => `agent ${network} ${userAgent}`;
const networkKey = ({ network }: AttemptStep): Key => `network ${network}`;

/** One app may connect many members: a new authorization request begins another attempt. */
function ofClient(step: AttemptStep, at: (key: Key) => Held | undefined): Held | undefined {
  const last = step.clientId === undefined ? undefined : at(clientKey(step.clientId));
  if (last === undefined || isAnother(last.attempt, step)) return undefined;
  if (!beginsAuthorization(step)) return last;
  const { steps } = last.attempt;
  const pushed = step.kind === 'authorization' && steps.at(-1)?.kind === 'pushed-request';
  return pushed || steps.at(-1)?.kind === 'client-document' || !steps.some(beginsAuthorization) ? last : undefined;
}

/** Whether an attempt is about another interaction or grant than a step. */
function isAnother({ steps }: ConnectionAttempt, { interaction, grantId }: AttemptStep): boolean {
  return steps.some(
    (one) =>
      (interaction !== undefined && one.interaction !== undefined && one.interaction !== interaction) ||
      (grantId !== undefined && one.grantId !== undefined && one.grantId !== grantId),
  );
}

function ofAddress(step: AttemptStep, at: (key: Key) => Held | undefined): Held | undefined {
  const known = (found: Held | undefined) => {
    if (found === undefined || step.at - lastOf(found.attempt).at > WINDOW) return undefined;
    return mayContinue(found.attempt, step) ? found : undefined;
  };
  if (isOfApp(step)) return known(at(agentKey(step)));
  const here = beginsAuthorization(step) || step.kind === 'client-document' ? known(at(networkKey(step))) : undefined;
  return here?.attempt.steps.every(isDiscovery) === true ? here : undefined;
}

/** Whether a step that names no app fits into an attempt: not after a refusal that ended it, nor for another app. */
function mayContinue(attempt: ConnectionAttempt, step: AttemptStep): boolean {
  const client = factOf(attempt, 'clientId');
  if (step.clientId !== undefined && client !== undefined && step.clientId !== client) {
    // Some apps register twice.
    return step.kind === 'registration' && !attempt.steps.some(beginsAuthorization);
  }
  const end = attempt.steps.findLast((one) => !isDiscovery(one));
  return end === undefined || end.kind === 'registration' || end.kind === 'use' || !isRefused(end);
}

/** A token that is not valid any more, of an app that is about to refresh. */
function isOldToken({ kind, error, grantId }: AttemptStep): boolean {
  return kind === 'use' && error === 'invalid_token' && grantId === undefined;
}

function beginsAuthorization({ kind }: AttemptStep): boolean {
  return kind === 'authorization' || kind === 'pushed-request';
}

/** An app that only goes on with its tokens makes no attempt, and sites have pages where apps guess endpoints. */
function begins(step: AttemptStep): boolean {
  return step.kind !== 'guess' || step.endpoint.includes('/.well-known/');
}

export function lastOf({ steps }: ConnectionAttempt): AttemptStep {
  return steps.reduce((last, step) => (step.at > last.at ? step : last));
}

/**
 * The attempt that makes room for the newest, if there are too many of its stage: the oldest of the network that has most
 * of them, so that a flood pushes out only its own.
 */
function crowdedOut(held: ReadonlyMap<string, Held>, newest: Held): Held | undefined {
  let count = 0;
  for (const { stage } of held.values()) if (stage === newest.stage) count += 1;
  if (count <= QUOTAS[newest.stage]) return undefined;
  const alike = [...held.values()].filter((one) => one !== newest && one.stage === newest.stage);
  const counts = new Map<string, number>();
  for (const { network } of alike) counts.set(network, (counts.get(network) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return alike.find(({ network }) => counts.get(network) === most);
}
