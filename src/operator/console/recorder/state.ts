import type { StepKind } from '../../../http/connection-step.ts';
import {
  type AttemptStep,
  type ConnectionAttempt,
  isDiscovery,
  isRefused,
} from '../../../operations/record/attempt.ts';

/**
 * `open`: it may still go on. `connected`: the app has used its token. `ended`: the connection was made and taken away.
 * `stopped`: nothing more will come.
 */
export type State = 'open' | 'connected' | 'stopped' | 'ended';

export interface Standstill {
  readonly state: State;
  /** The step that decides it: where the attempt stopped, or how far it is. */
  readonly at: AttemptStep;
}

const MINUTE = 60_000;

/** How long the next step may take after one that succeeded, in milliseconds. After others than these, ten minutes. */
const PATIENCE: Partial<Readonly<Record<StepKind, number>>> = {
  // As long as an interaction lasts.
  authorization: 15 * MINUTE,
  'sign-in': 15 * MINUTE,
  consent: 15 * MINUTE,
  code: 2 * MINUTE,
  use: 2 * MINUTE,
  revocation: 0,
};
const isQuiet = ({ kind, at }: AttemptStep, now: number) => now - at >= (PATIENCE[kind] ?? 10 * MINUTE);

/** Where an attempt is. `used` tells whether its token was used later than the steps say, from the counts of usage. */
export function standstillOf({ steps }: ConnectionAttempt, now: number, used = false): Standstill {
  const progress = steps.filter((step) => !isDiscovery(step) && step.kind !== 'approval');
  const at = deciding(progress);
  if (at === undefined) return stoppedInDiscovery(steps, now);
  if (progress.some(endsConnection) && !progress.slice(progress.findLastIndex(endsConnection)).some(begins))
    return { state: 'ended', at: progress.findLast(endsConnection) as AttemptStep };
  const quiet = isQuiet(at, now);
  const worked = used || progress.some((step) => step.kind === 'use' && !isRefused(step));
  if (at.kind === 'use' || at.kind === 'refresh') return afterUse(at, { steps, quiet, worked });
  // A token in the URL counts as none.
  const inQuery = steps.findLast(({ kind, parameters }) => kind === 'challenge' && parameters?.access_token === 'sent');
  if (at.kind === 'token' && !isRefused(at) && inQuery !== undefined && inQuery.at >= at.at)
    return { state: 'stopped', at: inQuery };
  if (used) return { state: 'connected', at };
  return { state: isFinal(at) || quiet ? 'stopped' : 'open', at };
}

/** The last step that says how the attempt went. */
function deciding(progress: readonly AttemptStep[]): AttemptStep | undefined {
  const relevant = progress.filter((step, index) => !isHarmless(step, progress.slice(index + 1)));
  const last = relevant.at(-1);
  if (last?.kind === 'code' && isRefused(last)) {
    // The app is sent the decision that the member made a moment ago.
    const page = relevant.findLast(({ kind }) => kind === 'consent' || kind === 'sign-in');
    return page?.outcome === 'denied' ? page : last;
  }
  if (last?.kind === 'authorization' && isRefused(last)) {
    const before = relevant.at(-2);
    return before?.kind === 'client-document' && isRefused(before) ? before : last;
  }
  return last;
}

/** A refusal that changes nothing: the same request again within the replay window, or a first step of DPoP. */
function isHarmless({ kind, error, description }: AttemptStep, later: readonly AttemptStep[]): boolean {
  if (error === 'use_dpop_nonce') return later.some((step) => step.kind === kind);
  return description?.includes('redeemed before, by the same') === true;
}

function stoppedInDiscovery(steps: readonly AttemptStep[], now: number): Standstill {
  const last = steps.at(-1) as AttemptStep;
  const refused = steps.findLast(isRefused) ?? last;
  const guess = steps.findLast(({ kind, endpoint }) => kind === 'guess' && !endpoint.includes('/.well-known/'));
  const isDiscovered = steps.some(({ kind }) => kind === 'server-metadata');
  return { state: isQuiet(last, now) ? 'stopped' : 'open', at: guess ?? (isDiscovered ? last : refused) };
}

function afterUse(
  at: AttemptStep,
  { quiet, worked, steps }: { quiet: boolean; worked: boolean; steps: readonly AttemptStep[] },
): Standstill {
  if (!isRefused(at)) return { state: worked || quiet || at.kind === 'use' ? 'connected' : 'open', at };
  if (at.kind === 'refresh') return { state: 'stopped', at };
  // An app that works and once asks for more than it may is connected.
  if (at.error === 'insufficient_scope' && worked) return { state: 'connected', at };
  const refreshed = steps.some(({ kind, at: time }) => kind === 'token' && time >= at.at);
  if (at.error === 'invalid_token' && at.description?.includes('another resource') !== true && !refreshed)
    return { state: quiet ? 'stopped' : worked ? 'connected' : 'open', at };
  return { state: 'stopped', at };
}

/** Whether nothing can follow a step that the app could not begin again. */
function isFinal(step: AttemptStep): boolean {
  if (step.kind === 'sign-in') return step.outcome === 'lost' || step.outcome === 'suspended' || step.status >= 400;
  if (step.kind === 'consent') return step.outcome === 'denied' || step.outcome === 'lost';
  return isRefused(step);
}

function endsConnection(step: AttemptStep): boolean {
  return step.kind === 'revocation' && !isRefused(step) && step.grantId !== undefined;
}

function begins({ kind }: AttemptStep): boolean {
  return kind === 'authorization' || kind === 'token';
}
