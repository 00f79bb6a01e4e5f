import { action, type OperatorAction } from './action.ts';

export const CLOSE_REGISTRATION = action({
  id: 'registration.close',
  run: ({ account }, { decision }) => account.closeRegistration(decision),
  audit: ['registration_closed'],
  ask: () => ({
    title: 'Close registration?',
    text: 'Apps that are new here will be refused, whether they register or have a client ID metadata document. Apps that are registered or connected already keep working. It holds for all replicas and across restarts, until you open registration again.',
  }),
  done: () => 'Registration is closed. New apps are refused.',
  page: { path: '/registration/close', back: '/apps', button: 'Close registration' },
});

export const OPEN_REGISTRATION = action({
  id: 'registration.open',
  run: ({ account }, { decision }) => account.openRegistration(decision),
  audit: ['registration_opened'],
  ask: () => ({ title: 'Open registration?', text: 'New apps can connect again.', danger: false }),
  done: () => 'Registration is open. New apps can connect.',
  page: { path: '/registration/open', back: '/apps', button: 'Open registration' },
});

export const REGISTRATION_ACTIONS: readonly OperatorAction[] = [CLOSE_REGISTRATION, OPEN_REGISTRATION];
