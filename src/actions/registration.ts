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
