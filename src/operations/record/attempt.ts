import { isDeepStrictEqual } from 'node:util';
import type { StepKind, StepNote } from '../../http/connection-step.ts';

/** One step of an app on its way to a connection, as it is kept. */
export interface AttemptStep extends StepNote {
  /** When it happened last, and first, in milliseconds since the epoch. */
  readonly at: number;
  readonly since: number;
  /** How often it happened in a row. */
  readonly times: number;
  /** How long the gate took, in milliseconds. */
  readonly took: number;
  /** Method and path. A path that could name a member is the pattern of its route. */
  readonly endpoint: string;
  /** The status of the answer; 0 for what was no request. */
  readonly status: number;
  readonly userAgent: string;
  readonly network: string;
}

/** An attempt of an app to connect. */
export interface ConnectionAttempt {
  readonly id: string;
  /** In the order of time. */
  steps: AttemptStep[];
  /** Steps that were left out because there were too many. */
  left: number;
}

const MOST_STEPS = 40;
/** Of the steps as JSON, in characters. */
const MOST_TEXT = 12_000;

/** The steps that are no request of the app. All others are the app's own requests. */
const OF_OTHERS: ReadonlySet<StepKind> = new Set([
  'authorization',
  'sign-in',
  'consent',
  'code',
  'client-document',
  'approval',
]);
const DISCOVERY: ReadonlySet<StepKind> = new Set(['challenge', 'resource-metadata', 'server-metadata', 'guess']);

export const isOfApp = ({ kind }: AttemptStep): boolean => !OF_OTHERS.has(kind);
export const isDiscovery = ({ kind }: AttemptStep): boolean => DISCOVERY.has(kind);

/** Whether a step was refused or failed. */
export function isRefused({ kind, error, status }: AttemptStep): boolean {
  // The token was accepted if the backend answered, or if something else was wrong with the request.
  if (kind === 'use') return error !== undefined && status <= 403;
  return error !== undefined || status >= 400;
}

/** Adds a step. A repetition of the last step of its kind is counted. Steps in the middle make room for later ones. */
export function addStep(attempt: ConnectionAttempt, step: AttemptStep): void {
  const { steps } = attempt;
  const at = steps.findLastIndex(({ kind }) => kind === step.kind);
  const before = steps[at];
  if (before !== undefined && steps.length - at <= 3 && isRepetition(before, step)) {
    steps[at] = { ...before, at: step.at, times: before.times + step.times };
    return;
  }
  steps.push(step);
  if (steps.length <= MOST_STEPS && JSON.stringify(steps).length <= MOST_TEXT) return;
  steps.splice(Math.floor(steps.length / 2), 1);
  attempt.left += 1;
}

const SAME = ['endpoint', 'status', 'outcome', 'error', 'description', 'detail', 'clientId', 'page'] as const;

function isRepetition(before: AttemptStep, step: AttemptStep): boolean {
  return SAME.every((name) => before[name] === step[name]) && isDeepStrictEqual(before.parameters, step.parameters);
}

/** The last value that a step has for a fact; the name that was registered before one that was refused. */
export function factOf<F extends 'clientId' | 'clientName' | 'member' | 'grantId'>(
  { steps }: Pick<ConnectionAttempt, 'steps'>,
  fact: F,
): AttemptStep[F] {
  const withFact = steps.filter((step) => step[fact] !== undefined);
  return (withFact.findLast((step) => fact !== 'clientName' || !isRefused(step)) ?? withFact.at(-1))?.[fact];
}
