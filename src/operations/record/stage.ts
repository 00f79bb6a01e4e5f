import { type AttemptStep, type ConnectionAttempt, factOf, isRefused } from './attempt.ts';

/** How far an attempt has come; `elsewhere` is a connection that goes on and was made by another process. */
export type AttemptStage = 'begun' | 'with-member' | 'connected' | 'elsewhere';

/**
 * How many attempts of each stage are held. So requests of strangers push out no attempt in which a member has signed
 * in, and the connections of a busy day push out no failure.
 */
export const QUOTAS: Readonly<Record<AttemptStage, number>> = {
  begun: 300,
  'with-member': 300,
  connected: 250,
  elsewhere: 150,
};

export function stageOf(attempt: ConnectionAttempt): AttemptStage {
  if (attempt.steps.every((step) => goesOn(step) && !isRefused(step))) return 'elsewhere';
  if (attempt.steps.some(({ kind, error }) => kind === 'use' && error === undefined)) return 'connected';
  return factOf(attempt, 'member') === undefined ? 'begun' : 'with-member';
}

function goesOn({ kind }: AttemptStep): boolean {
  return kind === 'use' || kind === 'refresh' || kind === 'approval' || kind === 'revocation';
}
