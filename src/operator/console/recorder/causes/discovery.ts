import { type Cause, sent } from './cause.ts';

/** The app has not registered or asked for authorization yet. */
export const DISCOVERY: readonly Cause[] = [
  { id: 'token-in-query', fits: (stopped) => sent(stopped, 'access_token') !== '' },
  { id: 'guessed-endpoint', kind: 'guess', fits: ({ at }) => !at.endpoint.includes('/.well-known/') },
  {
    id: 'metadata-address',
    kind: ['guess', 'challenge'],
    fits: ({ attempt: { steps } }) =>
      steps.some(({ kind }) => kind === 'guess') && !steps.some(({ kind }) => kind === 'server-metadata'),
    values: ({ attempt }) => {
      const guesses = attempt.steps.filter(({ kind }) => kind === 'guess').map(({ endpoint }) => endpoint);
      return { addresses: [...new Set(guesses)].join(', ') };
    },
  },
  { id: 'no-discovery', kind: 'challenge' },
  { id: 'metadata-only', kind: ['resource-metadata', 'server-metadata', 'guess'] },
];
