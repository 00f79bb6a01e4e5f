import { invalidRequest } from '../errors.ts';
import { counted } from '../http/amounts.ts';
import { isSubject } from '../oauth/subject.ts';
import { action } from './action.ts';

export const REGISTRATION_ACTIONS = {
  close: action({
    run: ({ account }, { decision }) => account.closeRegistration(decision),
    ask: () => ({
      title: 'Close registration?',
      text: 'Apps that are new here will be refused, whether they register or have a client ID metadata document. Apps that are registered or connected already keep working. It holds for all replicas and across restarts, until you open registration again.',
    }),
    done: () => 'Registration is closed. New apps are refused.',
    page: { path: '/registration/close', back: '/apps', button: 'Close registration' },
  }),
  open: action({
    run: ({ account }, { decision }) => account.openRegistration(decision),
    ask: () => ({ title: 'Open registration?', text: 'New apps can connect again.', danger: false }),
    done: () => 'Registration is open. New apps can connect.',
    page: { path: '/registration/open', back: '/apps', button: 'Open registration' },
  }),
};

export const EVENT_ACTIONS = {
  retry: action({
    path: '/events/retry',
    run: ({ events }, { decision }) => events.retry(decision),
    done: ({ pending }) => `Sending ${counted(pending, 'event')} again.`,
    page: { path: '/events/retry', back: '/events', button: 'Retry now' },
  }),
};

export const ASSERTION_ACTIONS = {
  /** Tries every upstream, as `member` or as a member that does not exist. The answers contain no assertion. */
  try: action({
    path: '/assertions/try',
    values: ['member'],
    async run({ assertions, audit }, { body: { member }, decision }) {
      if (member !== undefined && !isSubject(member)) throw invalidRequest('"member" must be the ID of a member.');
      audit({ action: 'assertions_tried', member, ...decision });
      return { trials: await assertions.try(member) };
    },
  }),
};

/** Entries of the store that one step seals again. */
const STEP = 1000;

export const STORE_ACTIONS = {
  /** Re-encrypts one part of the store with the first secret. `from` is the `next` of the previous step. */
  reseal: action({
    path: '/store/reseal',
    values: ['from'],
    async run({ store, audit }, { body: { from }, decision }) {
      if (from !== undefined && typeof from !== 'string')
        throw invalidRequest('"from" must be the "next" of the previous step.');
      const step = await store.reseal(from, STEP);
      if (step.next === undefined) audit({ action: 'store_resealed', ...decision });
      return step;
    },
  }),
};
