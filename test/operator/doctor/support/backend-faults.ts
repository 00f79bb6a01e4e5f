import type { Answered, Fault, Passing } from '../../../support/fault-proxy.ts';

export const RECHECK_KEY = 'a-key-that-only-the-gate-and-the-school-have';
const [WHOAMI, LOGIN, RECHECK] = ['/api/me', '/login', '/internal/members/'] as const;

/** One fault of a backend: what is wrong, and exactly the checks that must report it. */
export interface BrokenBackend {
  readonly what: string;
  readonly finds: readonly string[];
  /** Text that the first of them must report. */
  readonly says?: RegExp;
  /** What the first of them must advise. */
  readonly advises?: RegExp;
  readonly fault: Fault;
}

const json = (status: number, body: unknown, headers = {}): Answered => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});

const page = (status: number, title: string, headers = {}): Answered => ({
  status,
  headers: { 'content-type': 'text/html', ...headers },
  body: `<!doctype html><title>${title}</title>`,
});

/** Whether members exist, which the demo's school does not say: served in its place. */
export function recheckAnswer({ url, headers }: Passing): Answered | undefined {
  if (!url.pathname.startsWith(RECHECK)) return undefined;
  if (headers['coursegate-key'] !== RECHECK_KEY) return json(401, { error: 'key' });
  return url.pathname === `${RECHECK}m-1001` ? json(200, { active: true }) : json(404, {});
}

const at =
  (path: string) =>
  ({ url }: Passing) =>
    url.pathname === path;

const instead = (when: (passing: Passing) => boolean, answer: (passing: Passing) => Answered): Fault => ({
  toGate: (passing) => (when(passing) ? answer(passing) : undefined),
});

/** Changes the responses to some requests. */
const back = (when: (passing: Passing) => boolean, change: (answered: Answered) => void): Fault => ({
  fromGate: (answered, passing) => {
    if (when(passing)) change(answered);
  },
});

/** The claims of the assertion that a request carries; undefined without one. Nothing is verified. */
function claimsOf({
  headers,
}: Passing): { readonly iss: string; readonly aud: string; readonly exp: number } | undefined {
  const [, payload] = String(headers['x-coursegate-assertion'] ?? '').split('.');
  return payload === undefined ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString());
}

/** A backend that takes every assertion for valid that `takes` accepts. */
const careless = (takes: (claims: NonNullable<ReturnType<typeof claimsOf>>) => boolean): Fault =>
  instead(
    (passing) => {
      const claims = claimsOf(passing);
      return claims !== undefined && takes(claims);
    },
    () => json(200, {}),
  );

/** A backend that answers every request with an assertion like this. */
const always = (status: number, body: object): Fault =>
  instead(
    (passing) => claimsOf(passing) !== undefined,
    () => json(status, body),
  );

const cookied = ({ headers }: Passing) => headers.cookie !== undefined;

export const BROKEN_BACKENDS: readonly BrokenBackend[] = [
  {
    what: 'a backend that fails',
    finds: ['upstream.reachable'],
    says: /school: .* answers 500/,
    fault: instead(at('/'), () => page(500, 'Error')),
  },
  {
    what: 'a backend that refuses the Host',
    finds: ['upstream.host'],
    says: /answers 400 to Host: localhost/,
    fault: instead(at('/'), () => page(400, 'Invalid HTTP_HOST header')),
  },
  {
    what: 'a backend that redirects to its own address',
    finds: ['upstream.host'],
    says: /to https:\/\/www\.school\.test\//,
    fault: instead(at('/'), () => page(301, 'Moved', { location: 'https://www.school.test/' })),
  },
  {
    what: 'a backend whose clock is a minute behind',
    finds: ['upstream.clock'],
    says: /school is \d\d seconds behind this machine/,
    fault: back(at('/'), ({ headers }) => {
      headers.date = new Date(Date.now() - 60_000).toUTCString();
    }),
  },
  {
    what: 'a site without the drop-in, which serves a page instead of whoami',
    finds: ['whoami.anonymous', 'whoami.not-cached'],
    says: /^whoami at http:\/\/localhost:\d+\/api\/me returned 200: no JSON\. Expected: 200 with the member's ID at \/id, or 401, 403 or a redirect if no one is signed in$/,
    advises: /Install the drop-in/,
    fault: instead(at(WHOAMI), () => page(200, 'Home')),
  },
  {
    what: 'no whoami at its path',
    finds: ['whoami.anonymous'],
    says: /returned 404\. Expected: /,
    fault: instead(at(WHOAMI), () => json(404, {})),
  },
  {
    what: 'a whoami that names a member without a cookie',
    finds: ['whoami.anonymous'],
    says: /everyone would be signed in/,
    fault: instead(
      (one) => at(WHOAMI)(one) && !cookied(one),
      () => json(200, { id: 'm-1001' }),
    ),
  },
  {
    what: 'a whoami that takes any cookie for a member',
    finds: ['whoami.stranger'],
    says: /a session that does not exist/,
    fault: instead(
      (one) => at(WHOAMI)(one) && cookied(one),
      () => json(200, { id: 'm-1001' }),
    ),
  },
  {
    what: 'a whoami that fails for an expired session',
    finds: ['whoami.stranger'],
    says: /returned 500/,
    fault: instead(
      (one) => at(WHOAMI)(one) && cookied(one),
      () => json(500, {}),
    ),
  },
  {
    what: 'a whoami that may be cached',
    finds: ['whoami.not-cached'],
    says: /public, max-age=60/,
    fault: back(at(WHOAMI), ({ headers }) => {
      headers['cache-control'] = 'public, max-age=60';
    }),
  },
  {
    what: 'a cache in front of whoami',
    finds: ['whoami.not-cached'],
    says: /x-cache: HIT from edge/,
    fault: back(at(WHOAMI), ({ headers }) => {
      headers['x-cache'] = 'HIT from edge';
    }),
  },
  {
    what: 'a recheck with another key',
    finds: ['recheck.unknown', 'recheck.member'],
    says: /\/internal\/members\/coursegate-doctor: The backend answered 401/,
    fault: instead(
      ({ url }) => url.pathname.startsWith(RECHECK),
      () => json(401, {}),
    ),
  },
  {
    what: 'a recheck that calls everyone active',
    finds: ['recheck.unknown', 'recheck.key'],
    says: /no member would ever be disconnected/,
    fault: instead(
      ({ url }) => url.pathname.startsWith(RECHECK),
      () => json(200, { active: true }),
    ),
  },
  {
    what: 'a recheck that does not know the IDs of whoami',
    finds: ['recheck.member'],
    says: /this member is gone/,
    fault: instead(at(`${RECHECK}m-1001`), () => json(404, {})),
  },
  {
    what: 'a recheck that answers 404 without its key',
    finds: ['recheck.key'],
    says: /as if the member were gone/,
    fault: instead(
      ({ url, headers }) => url.pathname.startsWith(RECHECK) && headers['coursegate-key'] === undefined,
      () => json(404, {}),
    ),
  },
  {
    what: 'no sign-in page',
    finds: ['signin.page'],
    says: /\/login answers 404 "Not found"/,
    fault: instead(at(LOGIN), () => page(404, 'Not found')),
  },
  {
    what: 'a sign-in page that takes the address to return to in another parameter',
    finds: ['signin.return'],
    says: /ignores the parameter return_to, but keeps next/,
    advises: /^Set login\.returnParam: next\.$/,
    fault: {
      toGate: ({ url }) => {
        const next = url.searchParams.get('next');
        url.searchParams.delete('return_to');
        if (next !== null) url.searchParams.set('return_to', next);
        return undefined;
      },
    },
  },
  {
    what: 'a session cookie for the pages of the sign-in only',
    finds: ['signin.cookies'],
    says: /school_session has Path=\/login/,
    fault: back(at(LOGIN), ({ headers }) => {
      headers['set-cookie'] = ['school_session=none; Path=/login'];
    }),
  },
  {
    what: 'a session cookie for another host',
    finds: ['signin.cookies'],
    says: /is for school\.test, so browsers do not send it to localhost/,
    fault: back(at(LOGIN), ({ headers }) => {
      headers['set-cookie'] = ['school_session=none; Path=/; Domain=school.test'];
    }),
  },
  {
    what: 'a session cookie that is not sent after a link from an app',
    finds: ['signin.cookies'],
    says: /SameSite=Strict/,
    fault: back(at(LOGIN), ({ headers }) => {
      headers['set-cookie'] = ['school_session=none; Path=/; SameSite=Strict'];
    }),
  },
  {
    what: 'a drop-in with another origin in its settings',
    finds: ['assertion.accepted'],
    says: /401 "coursegate_assertion Invalid assertion: wrong issuer\." to a valid assertion/,
    advises: /`origin` in the settings of the drop-in/,
    fault: always(401, { code: 'coursegate_assertion', message: 'Invalid assertion: wrong issuer.' }),
  },
  {
    what: 'a drop-in that refuses every assertion',
    finds: ['assertion.accepted'],
    says: /as to a forged one/,
    fault: always(401, { error: 'invalid_assertion' }),
  },
  {
    what: 'a drop-in that cannot read the keys of the gate',
    finds: ['assertion.accepted'],
    says: /cannot read the gate’s keys/,
    advises: /jwks\.json/,
    fault: always(503, {}),
  },
  {
    what: 'a backend that verifies no signature',
    finds: ['assertion.forged', 'assertion.expired', 'assertion.elsewhere'],
    says: /it believes X-Member-Id/,
    // Without an assertion it refuses, so that the difference shows.
    fault: {
      toGate: (passing) => {
        if (!passing.url.pathname.startsWith('/api/v1/')) return undefined;
        return claimsOf(passing) === undefined ? json(401, {}) : json(200, {});
      },
    },
  },
  {
    what: 'a backend that answers whatever it is sent',
    finds: ['assertion.forged'],
    says: /^school: \/api\/v1\/whoami answers 200 to a forged assertion and to none, as to a valid one: nobody verifies/,
    advises: /Verify the assertion wherever/,
    fault: instead(
      ({ url }) => url.pathname.startsWith('/api/v1/'),
      () => json(200, {}),
    ),
  },
  {
    what: 'a backend that accepts expired assertions',
    finds: ['assertion.expired'],
    says: /answers 200 to one that has expired, as to a valid one/,
    fault: expectingMembers(({ exp }) => exp * 1000 < Date.now()),
  },
  {
    what: 'a backend that accepts assertions of another origin',
    finds: ['assertion.elsewhere'],
    says: /one of another origin/,
    fault: expectingMembers(({ iss }) => !iss.startsWith('http://localhost:')),
  },
  {
    what: 'a backend that accepts assertions for another backend',
    finds: ['assertion.elsewhere'],
    says: /one for another backend/,
    fault: expectingMembers(({ aud }) => aud !== 'school'),
  },
];

/** The demo's school accepts these as well, and refuses requests without an assertion. */
function expectingMembers(also: Parameters<typeof careless>[0]): Fault {
  const { toGate } = careless(also);
  return {
    toGate: (passing) => {
      const anonymous = passing.url.pathname.startsWith('/api/v1/') && claimsOf(passing) === undefined;
      return anonymous ? json(401, {}) : toGate?.(passing);
    },
  };
}
