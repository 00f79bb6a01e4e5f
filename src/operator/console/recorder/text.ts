import type { AttemptStep } from '../../../operations/record/attempt.ts';
import type { Explained } from './explained.ts';
import { kindName, lasting, outcomeOf, STATES, utcOf } from './words.ts';

/**
 * An attempt as text for the app's developer: nothing about the member, the browser or any address it came from.
 */
export function textOf({ attempt, name, state, at, why }: Explained, origin: string): string {
  const [first] = attempt.steps;
  return [
    `Attempt of ${name} to connect to ${origin}`,
    `${first === undefined ? '' : utcOf(first.since)}: ${STATES[state]} at ${kindName(at.kind).toLowerCase()}`,
    ...(why === undefined ? [] : ['', `${why.title}. ${why.why}`]),
    ...(why?.developer === undefined ? [] : ['', `To change: ${why.developer}`]),
    '',
    ...attempt.steps.flatMap((step) => linesOf(step, first?.since ?? 0)),
    ...(attempt.left === 0 ? [] : [`(${attempt.left} more left out)`]),
  ].join('\n');
}

function linesOf(step: AttemptStep, from: number): readonly string[] {
  const repeated = step.times > 1 ? ` (${step.times} times)` : '';
  const request = step.endpoint === '' ? '' : `: ${step.endpoint}${step.status === 0 ? '' : ` ${step.status}`}`;
  return [
    `+${lasting(step.since - from)}  ${kindName(step.kind)}${request}, ${outcomeOf(step)}${repeated}`,
    ...(step.description === undefined ? [] : [`    ${step.description}`]),
    ...shown(step).map(([name, value]) => `    ${name}: ${value}`),
  ];
}

/** The parameters of a step, and its client_id. */
export function shown({ clientId, parameters, kind }: AttemptStep): readonly (readonly [string, string])[] {
  const client =
    clientId === undefined || kind === 'sign-in' || kind === 'consent' ? [] : [['client_id', clientId] as const];
  return [...client, ...Object.entries(parameters ?? {}).filter(([, value]) => value !== '')];
}
