interface Answer {
  readonly status?: number;
  readonly said?: string;
}

const [GOOD, NO]: readonly [Answer, Answer] = [{ status: 200 }, { status: 401, said: 'invalid' }];
/** A backend that verifies everything. */
const VERIFIES = {
  ...{ valid: GOOD, none: { status: 401, said: 'none' }, forged: NO, expired: NO },
  ...{ 'other-origin': NO, 'other-upstream': NO },
};
const trial = (answers: Readonly<Record<string, Answer>>, more = {}, identity = ['assertion']) => ({
  facts: { trials: async () => [{ upstream: 'school', path: '/me?x=y', answers: { ...VERIFIES, ...answers } }] },
  config: { upstreams: { school: { identity } } },
  ...{ silent: new Set(), ...more },
});
const everywhere = (answer: Answer) => Object.fromEntries(Object.keys(VERIFIES).map((name) => [name, answer]));

const answer = (status: number, headers = {}, text = '', url = 'http://10.0.0.5/') => ({
  ...{ status, headers, text, url, cut: false, method: 'GET' },
});
const NOW = Date.parse('2026-11-23T08:00:00Z');
const upstream = (got: object, school = {}, origin = 'https://school.example') => ({
  ...{ config: { origin, upstreams: { school } }, now: () => NOW, send: async () => got },
});
const behind = (seconds: number) => upstream(answer(200, { date: new Date(NOW - seconds * 1000).toUTCString() }));
const moved = (location: string, url?: string) => answer(301, { location }, '', url);

const signIn = (answers: readonly object[], origin = 'https://school.example') => ({
  config: { origin, login: { kind: 'session', cookies: ['sid'], returnParam: 'next' } },
  facts: { signInPage: async () => ({ url: new URL('https://www.school.example/login'), answers, mark: 'MARK' }) },
});
const cookie = (attributes: string, origin?: string) =>
  signIn([answer(200, { 'set-cookie': [`sid=x${attributes}`] }, '', 'https://www.school.example/login')], origin);

/** What a check says of the answers of a backend: its id, what is known, and its verdicts. */
export const BACKEND_VERDICTS: readonly (readonly [check: string, known: object, says: RegExp])[] = [
  ['assertion.accepted', trial({}), /^pass: school: \/me tells it from a forged one$/],
  ['assertion.accepted', trial({}, { silent: new Set(['school']) }), /^Unavailable: the upstream school does not/],
  ['assertion.accepted', trial({ valid: {} }), /^failure: school: \/me answers nothing \(no answer\)$/],
  ['assertion.accepted', trial({ valid: { status: 503 } }), /^failure: .*cannot read the gate’s keys$/],
  [
    'assertion.accepted',
    trial({ valid: { status: 503 }, none: { status: 503 } }),
    /^failure: .* to a valid assertion$/,
  ],
  ['assertion.accepted', trial({ valid: { status: 500 } }), /^failure: .*answers 500 to a valid assertion$/],
  [
    'assertion.accepted',
    trial({ valid: { status: 403, said: 'Unknown KEY' } }),
    /^failure: .*403 "Unknown KEY" to a valid/,
  ],
  ['assertion.accepted', trial({ valid: { status: 200, said: 'audience' } }), /^pass/],
  ['assertion.accepted', trial({ valid: NO }), /^Unavailable: .*name a member with --member$/],
  ['assertion.accepted', trial({ valid: NO }, { member: 'm-1' }), /^failure: .*as to a forged one$/],
  ['assertion.accepted', trial(everywhere(GOOD)), /^Unavailable: .*the same with and without an assertion$/],

  ['assertion.forged', trial({}), /^pass: school: \/me refuses a forged one$/],
  ['assertion.expired', trial({}), /^pass: school: \/me refuses one that has expired$/],
  ['assertion.elsewhere', trial({}), /^pass: .*refuses one of another origin and one for another backend$/],
  ['assertion.forged', trial({ valid: {} }), /^Unavailable: .*verifies no assertion now$/],
  ['assertion.forged', trial({ valid: { status: 500 } }), /^Unavailable: .*verifies no assertion now$/],
  ['assertion.expired', trial({ expired: {} }), /^Unavailable: .*does not answer$/],
  ['assertion.forged', trial({ valid: NO }), /^Unavailable: .*name a member with --member$/],
  ['assertion.forged', trial({ valid: NO }, { member: 'm-1' }), /^Unavailable: .*refuses every assertion$/],
  ['assertion.forged', trial({ forged: GOOD }), /^failure: .*answers 200 to a forged one, as to a valid one$/],
  ['assertion.forged', trial({ forged: GOOD }, {}, ['assertion', 'headers']), /^warning: .*it believes X-Member-Id$/],
  ['assertion.expired', trial({ expired: GOOD }, {}, ['assertion', 'headers']), /^failure: .*as to a valid one$/],
  ['assertion.forged', trial(everywhere(GOOD)), /^warning: .*nobody verifies the assertion there/],
  ['assertion.forged', trial(everywhere({ status: 404 })), /^Unavailable: .*the same with and without an assertion$/],
  ['assertion.forged', trial(everywhere({ status: 302 })), /^Unavailable: .*the same with and without an assertion$/],
  ['assertion.expired', trial(everywhere(GOOD)), /^Unavailable: .*the same with and without an assertion$/],
  [
    'assertion.expired',
    trial({ expired: { status: 201 } }),
    /^failure: .*answers 201 to one that has expired instead of/,
  ],
  ['assertion.expired', trial({ expired: { status: 404 } }), /^failure: .*instead of refusing it$/],
  ['assertion.expired', trial({ none: { status: 204 }, expired: { status: 204 } }), /^pass/],
  ['assertion.elsewhere', trial({ 'other-origin': GOOD }), /^failure: .*one of another origin, as to a valid one$/],
  ['assertion.elsewhere', trial({ 'other-upstream': GOOD }), /^failure: .*one for another backend, as to a valid one$/],

  ['upstream.host', upstream(answer(200)), /^pass/],
  ['upstream.host', upstream(answer(421)), /^failure: .*answers 421 to Host: school\.example$/],
  ['upstream.host', upstream(answer(421), { host: 'upstream' }), /^failure: .*answers 421 to Host: 10\.0\.0\.5$/],
  ['upstream.host', upstream(answer(421, {}, '', 'https://10.0.0.5/')), /^failure: .*to Host: 10\.0\.0\.5$/],
  ['upstream.host', upstream(answer(400, {}, 'Bad request')), /^pass/],
  [
    'upstream.host',
    upstream(moved('https://www.school.example/')),
    /^failure: .*for school\.example to https:\/\/www\./,
  ],
  ['upstream.host', upstream(moved('https://www.school.example/login')), /^pass/],
  ['upstream.host', upstream(moved('https://school.example/')), /^failure: .*redirected forever$/],
  ['upstream.host', upstream(moved('https://school.example/?x')), /^pass/],
  ['upstream.host', upstream(moved('https://school.example/home')), /^pass/],
  ['upstream.host', upstream(moved('http://school.example/')), /^pass/],
  ['upstream.host', upstream(moved('https://school.example/'), {}, 'http://school.example'), /^pass/],
  ['upstream.clock', behind(6), /^pass: within 5 seconds$/],
  ['upstream.clock', behind(7), /^warning: school is 6 seconds behind this machine$/],
  ['upstream.clock', behind(31), /^warning: school is 30 seconds behind/],
  ['upstream.clock', behind(32), /^failure: school is 31 seconds behind/],
  ['upstream.clock', upstream(answer(200)), /^Unavailable: no upstream sends a Date$/],
  ['upstream.reachable', upstream(answer(499)), /^pass/],

  ['signin.page', signIn([answer(302), answer(399, { location: '/x' })]), /^failure: .*redirects again and again$/],
  ['signin.page', signIn([answer(200, { 'content-type': 'text/html' })]), /^pass: .*\/login answers 200 text\/html$/],
  [
    'signin.page',
    signIn([answer(302), answer(400)]),
    /^failure: .*\/login leads to http:\/\/10\.0\.0\.5\/, which answers 400$/,
  ],
  ['signin.return', signIn([answer(200, {}, 'next=MARK')]), /^pass: in next$/],
  ['signin.return', signIn([answer(302, { location: '/?MARK' }), answer(200)]), /^pass/],
  ['signin.return', signIn([answer(200, { 'set-cookie': ['to=MARK'] })]), /^pass/],
  ['signin.return', signIn([answer(404, {}, 'MARK')]), /^Unavailable: there is no sign-in page$/],
  ['signin.cookies', cookie('; Path=/; Domain=.School.example; Secure; SameSite=Lax'), /^pass: sid$/],
  ['signin.cookies', cookie('; Path=/'), /^failure: sid is for www\.school\.example only, so browsers do not send it/],
  ['signin.cookies', cookie('', 'https://www.school.example'), /^pass: sid$/],
  ['signin.cookies', cookie('; Domain=chool.example'), /^failure: sid is for chool\.example/],
  ['signin.cookies', cookie('; Domain=school.example; Path=/app'), /^failure: sid has Path=\/app/],
  ['signin.cookies', cookie('; Domain=school.example; SameSite=STRICT'), /^warning: sid has SameSite=Strict/],
  [
    'signin.cookies',
    cookie('; Domain=school.example; Secure', 'http://school.example'),
    /^failure: sid is Secure, but/,
  ],
  ['signin.cookies', signIn([answer(200, { 'set-cookie': ['other=x'] })]), /^Unavailable: none of the cookies/],
];
