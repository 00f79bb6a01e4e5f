/** What each step of the walk teaches: its name, what happens and why, and where the standard says so. */
export interface Lesson {
  readonly title: string;
  readonly why: string;
  readonly standard: readonly [label: string, url: string];
}

const rfc = (number: number, section: string): [string, string] => [
  `RFC ${number}, section ${section}`,
  `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`,
];

export const LESSONS = {
  resource: {
    title: 'Discover the resource',
    why: 'Study Buddy knows only the address of the school. It asks the school what it protects, and who may issue tokens for it.',
    standard: rfc(9728, '3'),
  },
  server: {
    title: 'Discover the authorization server',
    why: 'It asks the issuer where everything is: sign-in, tokens, registration. Nothing is hard-coded, so nothing breaks when an address moves.',
    standard: rfc(8414, '3'),
  },
  register: {
    title: 'Register',
    why: 'The school has never heard of Study Buddy. It introduces itself with its name and the one address it may be called back at, and gets a client_id.',
    standard: rfc(7591, '3'),
  },
  authorize: {
    title: 'Send the member to the school',
    why: 'The browser leaves for the school with a request: which app, which scopes, for which resource. It carries only the fingerprint (S256) of a secret that Study Buddy keeps, so a stolen code is worth nothing.',
    standard: rfc(7636, '4.3'),
  },
  approve: {
    title: 'The member signs in and approves',
    why: 'This happens at the school, with the login the member already has. Study Buddy sees neither the page nor the password, only whether the browser comes back.',
    standard: rfc(6749, '4.1.1'),
  },
  callback: {
    title: 'Back with a code',
    why: 'The browser returns with a one-time code. Study Buddy first checks that state is its own, so nobody slipped in a foreign answer, and that iss is the school, so no other server did.',
    standard: rfc(9207, '2.4'),
  },
  token: {
    title: 'Exchange the code for tokens',
    why: 'Server to server, and out of the browser’s sight: the code and the kept secret (code_verifier) become a short-lived access token and a refresh token.',
    standard: rfc(6749, '4.1.3'),
  },
  read: {
    title: 'Read the member’s courses',
    why: 'The access token goes along in the Authorization header. The school answers with the data of the member who approved, and of nobody else.',
    standard: rfc(6750, '2.1'),
  },
  refresh: {
    title: 'Refresh the token',
    why: 'Access tokens live for minutes. The refresh token gets a new one without the member, and is itself replaced, so that a copied one is noticed.',
    standard: rfc(6749, '6'),
  },
  introspect: {
    title: 'Ask what the token is',
    why: 'To an app the token is only a string. The school says whether it is alive, for which scopes, for how long, and which resource (aud) it is bound to.',
    standard: rfc(7662, '2'),
  },
  userinfo: {
    title: 'Ask who the member is',
    why: 'OpenID Connect: with the same token, the member’s name and email, as far as the approved scopes allow.',
    standard: ['OpenID Connect Core, section 5.3', 'https://openid.net/specs/openid-connect-core-1_0.html#UserInfo'],
  },
  revoke: {
    title: 'Disconnect',
    why: 'Study Buddy hands its tokens back. From now on they open nothing. The member can do the same at the school, without asking Study Buddy.',
    standard: rfc(7009, '2.1'),
  },
  refused: {
    title: 'Try to read anyway',
    why: 'The same request with the revoked token. A 401 is the right answer; its WWW-Authenticate header tells an app where to start over.',
    standard: rfc(9728, '5.1'),
  },
} as const satisfies Record<string, Lesson>;

export type LessonName = keyof typeof LESSONS;

/** The scopes a person can pick on the home page; the first ones are what the app needs. */
export const SCOPE_CHOICES: readonly (readonly [scope: string, meaning: string, chosen: boolean])[] = [
  ['openid', 'sign you in with OpenID Connect', true],
  ['profile', 'your name', true],
  ['email', 'your email address', true],
  ['account:read', 'your own account: courses, progress, access', true],
  ['courses:read', 'read courses', true],
  ['orders:read', 'read orders', true],
  ['account:write', 'change your account', false],
  ['courses:write', 'change courses', false],
  ['members:write', 'change members', false],
];
