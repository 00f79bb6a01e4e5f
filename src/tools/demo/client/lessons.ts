const rfc = (number: number, section: string): [string, string] => [
  `RFC ${number}, section ${section}`,
  `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`,
];

/** What each step teaches: its name, what happens and why, and the standard behind it. */
export const LESSONS = {
  resource: {
    title: 'Discover the resource',
    why: 'Study Buddy knows only the address of the school. It asks the school what it protects and which server issues tokens for it.',
    standard: rfc(9728, '3'),
  },
  server: {
    title: 'Discover the authorization server',
    why: 'It asks the issuer for its endpoints: sign-in, tokens, registration. Nothing is hard-coded, so nothing breaks when an endpoint moves.',
    standard: rfc(8414, '3'),
  },
  register: {
    title: 'Register',
    why: 'The school does not know Study Buddy yet. The app sends its name and its only redirect URI, and gets a client_id.',
    standard: rfc(7591, '3'),
  },
  authorize: {
    title: 'Send the member to the school',
    why: 'The browser goes to the school with a request: which app, which scopes, for which resource. It contains only the hash (S256) of a secret that Study Buddy keeps, so a stolen code is useless.',
    standard: rfc(7636, '4.3'),
  },
  approve: {
    title: 'The member signs in and approves',
    why: 'This happens at the school, with the login the member already has. Study Buddy sees neither the page nor the password, only whether the browser comes back.',
    standard: rfc(6749, '4.1.1'),
  },
  callback: {
    title: 'Back with a code',
    why: 'The browser returns with a one-time code. Study Buddy first checks that state is its own, so the response was not injected, and that iss is the school, so it did not come from another server.',
    standard: rfc(9207, '2.4'),
  },
  token: {
    title: 'Exchange the code for tokens',
    why: 'Server to server, without the browser: the code and the secret (code_verifier) are exchanged for a short-lived access token and a refresh token.',
    standard: rfc(6749, '4.1.3'),
  },
  read: {
    title: 'Read the member’s courses',
    why: 'The access token is sent in the Authorization header. The school returns the data of the member who approved, and no one else’s.',
    standard: rfc(6750, '2.1'),
  },
  refresh: {
    title: 'Refresh the token',
    why: 'Access tokens are valid for minutes. The refresh token gets a new one without the member, and is itself replaced, so that a stolen copy is detected.',
    standard: rfc(6749, '6'),
  },
  introspect: {
    title: 'Ask what the token is',
    why: 'To an app the token is only a string. The school tells whether it is active, for which scopes, for how long, and for which resource (aud).',
    standard: rfc(7662, '2'),
  },
  revoke: {
    title: 'Disconnect',
    why: 'Study Buddy revokes its tokens. From now on they no longer work. The member can do the same at the school, without Study Buddy.',
    standard: rfc(7009, '2.1'),
  },
  refused: {
    title: 'Try to read anyway',
    why: 'The same request with the revoked token. A 401 is the correct response; its WWW-Authenticate header tells an app where to start again.',
    standard: rfc(9728, '5.1'),
  },
};

export type LessonName = keyof typeof LESSONS;

/** The scopes offered on the home page, and whether they are selected by default. */
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
