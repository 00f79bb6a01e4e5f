import { counted } from '../http/amounts.ts';
import { action } from './action.ts';

export const EVENT_ACTIONS = {
  retry: action({
    path: '/events/retry',
    run: ({ events }, { decision }) => events.retry(decision),
    done: ({ pending }) => `Sending ${counted(pending, 'event')} again.`,
    page: { path: '/events/retry', back: '/events', button: 'Retry now' },
  }),
};
