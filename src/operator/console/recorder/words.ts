import type { StepKind } from '../../../http/connection-step.ts';
import {
  type AttemptStep,
  type ConnectionAttempt,
  factOf,
  isOfApp,
  isRefused,
} from '../../../operations/record/attempt.ts';
import { wordsOf } from '../kit/words.ts';
import { agentName } from './agent.ts';
import type { State } from './state.ts';

const kindText = wordsOf('recorder/steps.yaml');
const outcomeText = wordsOf('recorder/outcomes.yaml');

export const STATES: Readonly<Record<State, string>> = {
  open: 'in progress',
  connected: 'connected',
  stopped: 'stopped',
  ended: 'disconnected',
};

export const kindName = (kind: StepKind): string => kindText(kind) ?? kind;

/** What came of a step, in a few words. */
export function outcomeOf(step: AttemptStep): string {
  if (step.kind === 'challenge') return 'challenged';
  const outcome = step.outcome === undefined ? undefined : (outcomeText(step.outcome) ?? step.outcome);
  if (step.error !== undefined) return outcome === undefined ? step.error : `${outcome}: ${step.error}`;
  return outcome ?? (isRefused(step) ? `answered ${step.status}` : 'ok');
}

/** How the app calls itself; otherwise its client_id, or what sent its requests: `Unknown app (Chrome on Linux)`. */
export function appName(attempt: ConnectionAttempt): string {
  const { steps } = attempt;
  const { userAgent = '' } = steps.find((step) => isOfApp(step) && step.userAgent !== '') ?? steps[0] ?? {};
  const agent = agentName(userAgent);
  const unknown = agent === undefined ? 'Unknown app' : `Unknown app (${agent})`;
  return factOf(attempt, 'clientName') ?? factOf(attempt, 'clientId') ?? unknown;
}

/** A duration for people: `4 s`, `3 min`, `2 h`. */
export function lasting(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** In UTC: for people who are elsewhere. */
export function utcOf(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
