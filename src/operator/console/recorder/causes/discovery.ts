import type { Cause } from './cause.ts';
import { sent } from './cause.ts';

/** The app has not registered or asked for authorization yet. */
export const DISCOVERY: readonly Cause[] = [
  {
    id: 'token-in-query',
    fits: (stopped) => sent(stopped, 'access_token') !== '',
  },
  {
    id: 'guessed-endpoint',
    fits: ({ at }) => at.kind === 'guess' && !at.endpoint.includes('/.well-known/'),
  },
  {
    id: 'metadata-address',
    fits: ({ attempt, at }) =>
      (at.kind === 'guess' || at.kind === 'challenge') &&
      attempt.steps.some(({ kind }) => kind === 'guess') &&
      !attempt.steps.some(({ kind }) => kind === 'server-metadata'),
    values: ({ attempt }) => {
      const guesses = attempt.steps.filter(({ kind }) => kind === 'guess').map(({ endpoint }) => endpoint);
      return { addresses: [...new Set(guesses)].join(', ') };
    },
  },
  {
    id: 'no-discovery',
    fits: ({ at }) => at.kind === 'challenge',
  },
  {
    id: 'metadata-only',
    fits: ({ at }) => ['resource-metadata', 'server-metadata', 'guess'].includes(at.kind),
  },
];
