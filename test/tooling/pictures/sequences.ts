/** The sequence diagrams of the documentation, which says the same below each picture in a numbered list. */

import type { Sequence, Step } from './sequence.ts';

const [APP, BROWSER, GATEWAY, GATE, SITE] = ['App', 'Member’s browser', 'Your gateway', 'coursegate', 'Your site'];

const step = (from: string, to: string, ...label: string[]): Step => ({ from, to, label });

export const SEQUENCES: readonly Sequence[] = [
  {
    name: 'sequence-sign-in',
    page: 'docs/how-it-works.md',
    title: 'Sign-in with an authorization code',
    description:
      'The app finds out where to sign in and sends the member’s browser to coursegate. The member signs in on your site as always. coursegate asks your site who that is, asks the member for consent, and gives the app a code, which the app exchanges for tokens. Requests with a token reach your site with the member’s id.',
    participants: [APP, BROWSER, GATE, SITE],
    steps: [
      step(APP, GATE, 'GET /api/v1/courses, without a token'),
      step(GATE, APP, '401, with the address of the metadata'),
      step(APP, GATE, 'read the metadata, register once'),
      step(APP, BROWSER, 'open /oauth/authorize', 'with code_challenge'),
      step(BROWSER, GATE, 'the request'),
      step(GATE, BROWSER, 'go to the', 'sign-in page'),
      step(BROWSER, SITE, 'sign in as always'),
      step(SITE, BROWSER, 'session cookie, back to coursegate'),
      step(BROWSER, GATE, 'with the cookie'),
      step(GATE, SITE, 'whoami, with', 'the cookie'),
      step(SITE, GATE, 'member id'),
      step(GATE, BROWSER, 'consent page'),
      step(BROWSER, GATE, 'Approve'),
      step(GATE, APP, 'redirect through the browser: code, state, iss'),
      step(APP, GATE, 'code and code_verifier'),
      step(GATE, APP, 'access token, refresh token'),
      step(APP, GATE, 'GET /api/v1/courses, with the token'),
      step(GATE, SITE, 'the request, with', 'a signed member id'),
      step(SITE, APP, 'the answer, relayed by coursegate'),
    ],
  },
  {
    name: 'sequence-consent',
    page: 'docs/how-it-works.md',
    title: 'Consent',
    description:
      'coursegate shows the member which app asks, where it sends them, and each permission. The member approves some or all, and the app gets a code for those. If the member cancels, the app gets access_denied.',
    participants: [APP, BROWSER, GATE, SITE],
    steps: [
      step(GATE, SITE, 'who is signed in?'),
      step(SITE, GATE, 'member id'),
      step(GATE, BROWSER, 'which app,', 'which permissions'),
      step(BROWSER, BROWSER, 'untick, tick'),
      step(BROWSER, GATE, 'Approve'),
      step(GATE, SITE, 'still the same', 'member?'),
      step(GATE, GATE, 'store the grant, sealed'),
      step(GATE, APP, 'redirect: code for what is ticked'),
      step(GATE, APP, 'after Cancel instead: access_denied'),
    ],
  },
  {
    name: 'sequence-step-up',
    page: 'docs/how-it-works.md',
    title: 'Step-up: asking for more',
    description:
      'An app that may only read tries to change something. coursegate answers 403 and names the missing scope. The app sends the member to coursegate again with that scope, the member approves, and the app repeats its request with a new token.',
    participants: [APP, BROWSER, GATE, SITE],
    steps: [
      step(APP, GATE, 'POST, with a token for reading'),
      step(GATE, APP, '403 insufficient_scope, with the scopes'),
      step(APP, BROWSER, 'open /oauth/authorize', 'with those scopes'),
      step(BROWSER, GATE, 'the request'),
      step(GATE, BROWSER, 'consent page:', 'what is new'),
      step(BROWSER, GATE, 'Approve'),
      step(GATE, APP, 'code, then tokens with more scopes'),
      step(APP, GATE, 'POST again, with the new token'),
      step(GATE, SITE, 'the request'),
    ],
  },
  {
    name: 'sequence-revocation',
    page: 'docs/how-it-works.md',
    title: 'Revocation',
    description:
      'The member presses Disconnect, or your site reports a new password. coursegate ends the grant at every replica and answers only then. The app’s next request gets 401, and its refresh token gets invalid_grant.',
    participants: [APP, BROWSER, GATE, SITE],
    steps: [
      step(BROWSER, GATE, 'Disconnect on', '/oauth/apps'),
      step(SITE, GATE, 'or: new password', '(a signed event)'),
      step(GATE, GATE, 'end the grant everywhere'),
      step(GATE, BROWSER, 'disconnected'),
      step(APP, GATE, 'a request with the token'),
      step(GATE, APP, '401 invalid_token'),
      step(APP, GATE, 'refresh'),
      step(GATE, APP, '400 invalid_grant: ask the member again'),
    ],
  },
  {
    name: 'sequence-plugin',
    page: 'docs/plugin-mode.md',
    title: 'Plugin mode: the gateway asks, and forwards itself',
    description:
      'An app sends a request with its token to your gateway. The gateway asks coursegate whether it may pass, and coursegate answers with the member’s identity, which the gateway sends on to the backend with the request. A refusal of coursegate goes to the app as it is. Everything that two servers may read differently, and what belongs to coursegate, goes through coursegate.',
    participants: [APP, GATEWAY, GATE, SITE],
    steps: [
      step(APP, GATEWAY, 'GET /api/courses,', 'with the token'),
      step(GATEWAY, GATE, 'may this pass?'),
      step(GATE, GATEWAY, '200, with the', 'member’s identity'),
      step(GATEWAY, SITE, 'the request, with that identity'),
      step(SITE, APP, 'the answer'),
      step(APP, GATEWAY, 'the same without', 'the right scope'),
      step(GATEWAY, GATE, 'may this pass?'),
      step(GATE, APP, '403 insufficient_scope, as it is'),
      step(APP, GATEWAY, 'sign-in, /mcp, or', '/api/..;/courses'),
      step(GATEWAY, GATE, 'the request'),
      step(GATE, APP, 'its own answer'),
    ],
  },
];
