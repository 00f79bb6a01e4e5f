import { counted } from '../http/counted.ts';
import { action, type OperatorAction } from './action.ts';

export const EVENT_ACTIONS: readonly OperatorAction[] = [
  action({
    id: 'events.retry',
    path: '/events/retry',
    run: ({ events }, { decision }) => events.retry(decision),
    audit: ['events_retried'],
    done: ({ pending }) => `Sending ${counted(pending, 'event')} again.`,
    page: { path: '/events/retry', back: '/events', button: 'Retry now' },
  }),
];
