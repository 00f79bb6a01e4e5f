import { type Cause, says } from './cause.ts';

const MEMBERS = 'docs/troubleshooting.md#members-cannot-sign-in';

/** The member was asked, and did not get to the end. */
export const SIGN_IN: readonly Cause[] = [
  {
    id: 'member-suspended',
    fits: ({ at }) => at.outcome === 'suspended',
    title: 'The member is suspended',
    why: () => 'Your backend or an operator has suspended this member, so they can connect no app.',
    operator: 'To let them again: `coursegate members resume ID`, or the member’s page in this console.',
    docs: MEMBERS,
  },
  {
    id: 'cookies-lost',
    fits: ({ at }) => at.outcome === 'lost' && at.detail?.includes('no cookie') === true,
    title: 'The browser lost its cookies on the way',
    why: ({ at }) =>
      `The browser came to a page of the request without the cookie that it was given when it left${/; wv\)|\bwv\b/.test(at.userAgent) ? '. It is a web view inside an app, which shares no cookies with the browser' : ''}. Either the sign-in went on in another browser (a link opened on a phone, a web view), or the site does not use https although \`origin\` does.`,
    operator:
      'If this happens to every member, check that no cache stores the gate’s pages and that the site uses https.',
    developer: 'Open the authorization request in the system browser, not in a web view (RFC 8252 section 8.12).',
    docs: MEMBERS,
  },
  {
    id: 'interaction-over',
    fits: ({ at }) => at.outcome === 'lost',
    title: 'The request had expired or was already answered',
    why: () =>
      'A page of the request was opened that has expired (after 15 minutes), or was already answered: usually with the back button or from a saved tab.',
    operator: 'The member has to start again in the app.',
    docs: MEMBERS,
  },
  {
    id: 'sign-in-unavailable',
    fits: ({ at }) => at.status >= 500 || at.outcome === 'login_unavailable',
    title: 'Your sign-in did not answer',
    why: () =>
      'The gate asked your backend who is signed in and got no answer that it can use. The log says what came instead.',
    operator: 'Run `coursegate doctor --config coursegate.yaml`.',
    docs: MEMBERS,
  },
  {
    id: 'account-closed',
    fits: ({ at }) => at.outcome === 'account_closed',
    title: 'The member’s account is closed',
    why: () => 'Your backend says that this account is gone or inactive.',
    operator: 'Check the account at your site.',
    docs: MEMBERS,
  },
  {
    id: 'not-signed-in',
    fits: ({ at }) => at.outcome === 'not_signed_in',
    title: 'The member came back without being signed in',
    why: () =>
      'The member returned from your sign-in page, but the gate sees no session: they went back without signing in, or your site’s cookie does not reach the gate.',
    operator:
      'If it happens to every member, compare `login.cookies` with the cookie that your site sets: its name, its host, and Path=/. The log names the cookies that came.',
    docs: MEMBERS,
  },
  {
    id: 'not-as-asked-for',
    fits: ({ at }) => at.outcome === 'not_as_asked_for',
    title: 'The sign-in is not the one that the app asked for',
    why: () =>
      'The app asked for a new sign-in (prompt=login, max_age) or for a certain member (id_token_hint), and the member’s session is another one.',
    operator: 'If your backend does not say when members signed in, set `whoami.authTime`.',
    docs: MEMBERS,
  },
  {
    id: 'consent-denied',
    fits: (stopped) => stopped.at.outcome === 'denied' || says(stopped, 'did not approve'),
    title: 'The member pressed Cancel',
    why: () => 'The member saw what the app asks for and pressed Cancel. The app was told (access_denied).',
    developer: 'Ask for fewer scopes at first. More can be asked for later.',
    docs: 'docs/for-members.md',
  },
  {
    id: 'abandoned-consent',
    fits: ({ at }) => at.kind === 'consent' || at.outcome === 'signed-in',
    title: 'The member left the consent page open or closed it',
    why: () => 'The member signed in, saw the consent page and did not decide within 15 minutes.',
    docs: 'docs/for-members.md',
  },
  {
    id: 'abandoned-sign-in',
    fits: ({ at }) => at.kind === 'sign-in' || (at.kind === 'authorization' && at.error === undefined),
    title: 'The member did not sign in',
    why: () => 'The member was sent to the sign-in page and did not sign in within 15 minutes.',
    operator:
      'If members do sign in and then end up on another page of your site, the way back is missing: see docs/login/session.md#the-way-back.',
    docs: MEMBERS,
  },
];
