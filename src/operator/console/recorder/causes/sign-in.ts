import { type Cause, says } from './cause.ts';

/** The member was asked, and did not get to the end. */
export const SIGN_IN: readonly Cause[] = [
  { id: 'member-suspended', outcome: 'suspended' },
  // Whatever came before it would have the same page or interaction.
  {
    id: 'interaction-unknown',
    outcome: 'lost',
    fits: ({ attempt }) => !attempt.steps.some(({ kind }) => kind === 'authorization'),
  },
  {
    id: 'cookies-lost',
    outcome: 'lost',
    fits: ({ at }) => at.detail?.includes('no cookie') === true,
    values: ({ at }) => ({
      webView: /; wv\)|\bwv\b/.test(at.userAgent)
        ? '. It is a web view inside an app, which shares no cookies with the browser'
        : '',
    }),
  },
  { id: 'interaction-over', outcome: 'lost' },
  { id: 'sign-in-unavailable', fits: ({ at }) => at.status >= 500 || at.outcome === 'login_unavailable' },
  { id: 'account-closed', outcome: 'account_closed' },
  { id: 'not-signed-in', outcome: 'not_signed_in' },
  { id: 'not-as-asked-for', outcome: 'not_as_asked_for' },
  {
    id: 'consent-denied',
    fits: (stopped) => stopped.at.outcome === 'denied' || says(stopped, 'did not approve'),
  },
  { id: 'abandoned-consent', fits: ({ at }) => at.kind === 'consent' || at.outcome === 'signed-in' },
  {
    id: 'abandoned-sign-in',
    fits: ({ at }) => at.kind === 'sign-in' || (at.kind === 'authorization' && at.error === undefined),
  },
];
