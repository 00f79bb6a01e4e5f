import { AS_MEMBER, type Attempt, JSON_TYPE, lines, product, refused, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';
import { RESERVED, SPELLINGS } from './forged-headers.ts';

interface Endpoint {
  readonly method: string;
  readonly target: string;
  readonly fields: string;
  readonly body: string;
  /** Whether it works without a token. */
  readonly open: boolean;
}

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}';
const QUERY = '{"query":"{ viewer { id email } }"}';

/** Every kind of endpoint that accepts a token. In Profile B, the routes can also be read without one. */
function endpoints(profile: string): readonly Endpoint[] {
  const get = (target: string, open: boolean): Endpoint => ({ method: 'GET', target, fields: '', body: '', open });
  const post = (target: string, body: string, open: boolean): Endpoint => ({
    method: 'POST',
    target,
    fields: JSON_TYPE,
    body,
    open,
  });
  const anonymous = profile === 'B';
  return [
    get('/api/v1/whoami', anonymous),
    get('/api/v1/courses?per_page=1', anonymous),
    get('/api/v1/orders?per_page=1', anonymous),
    get('/api/oauth/userinfo', false),
    { ...get('/api/oauth/userinfo', false), method: 'POST' },
    post('/mcp', LIST, true),
    post('/mcp/member', LIST, false),
    ...(anonymous ? [] : [post('/account/graphql', QUERY, false)]),
  ];
}

const CREDENTIALS: readonly (readonly [string, string])[] = [
  ['the scheme alone', 'Authorization: Bearer'],
  ['the scheme and a space', 'Authorization: Bearer '],
  ['two spaces', 'Authorization: Bearer  '],
  ['a tab', 'Authorization: Bearer\t{TOKEN}'],
  ['two tokens', 'Authorization: Bearer {TOKEN} {TOKEN}'],
  ['the tokens of two members', 'Authorization: Bearer {TOKEN} {OTHER}'],
  ['a comma before it', 'Authorization: Bearer ,{TOKEN}'],
  ['a comma behind it', 'Authorization: Bearer {TOKEN},'],
  ['two schemes', 'Authorization: Bearer {TOKEN}, Basic eDp5'],
  ['two schemes, the other first', 'Authorization: Basic eDp5, Bearer {TOKEN}'],
  ['no scheme', 'Authorization: {TOKEN}'],
  ['no space', 'Authorization: Bearer{TOKEN}'],
  ['a colon', 'Authorization: Bearer: {TOKEN}'],
  ['an equals sign', 'Authorization: Bearer={TOKEN}'],
  ['a parameter', 'Authorization: Bearer token={TOKEN}'],
  ['Basic', 'Authorization: Basic eDp5'],
  ['Basic with the token', 'Authorization: Basic {TOKEN}'],
  ['Token', 'Authorization: Token {TOKEN}'],
  ['Digest', 'Authorization: Digest username="m-1001"'],
  ['DPoP without a proof', 'Authorization: DPoP {TOKEN}'],
  ['Negotiate', 'Authorization: Negotiate YII='],
  ['quotes', 'Authorization: Bearer "{TOKEN}"'],
  ['apostrophes', "Authorization: Bearer '{TOKEN}'"],
  ['8 kB', `Authorization: Bearer ${'x'.repeat(8_000)}`],
  ['bytes beyond ASCII', 'Authorization: Bearer {TOKEN}\xe9'],
  ['an unknown token', `Authorization: Bearer ${'A'.repeat(43)}`],
  ['a longer token', 'Authorization: Bearer {TOKEN}x'],
  ['a name of the runtime', 'Authorization: Bearer __proto__'],
  ['a path', 'Authorization: Bearer ../../data/coursegate.db'],
  ['SQL', "Authorization: Bearer ' OR 1=1 --"],
  ['a pattern', 'Authorization: Bearer *'],
  ['null', 'Authorization: Bearer null'],
  ['undefined', 'Authorization: Bearer undefined'],
  ['a JWT without a signature', 'Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJtLTEwMDEifQ.'],
  ['a member id', 'Authorization: Bearer m-1001'],
];
const TWO_FIELDS: readonly (readonly [string, string])[] = [
  ['the token twice', lines('Authorization: Bearer {TOKEN}', 'Authorization: Bearer {TOKEN}')],
  ['two members', lines('Authorization: Bearer {TOKEN}', 'Authorization: Bearer {OTHER}')],
  ['Basic, then the token', lines('Authorization: Basic eDp5', 'Authorization: Bearer {TOKEN}')],
  ['the token, then Basic', lines('Authorization: Bearer {TOKEN}', 'Authorization: Basic eDp5')],
  ['the token, then nothing', lines('Authorization: Bearer {TOKEN}', 'Authorization: ')],
];

/** Credentials that are not exactly one valid token. Each gets 401 at every endpoint, even where none is needed. */
export const badCredentials: Family<SchoolStand> = {
  name: 'invalid credentials',
  attempts: ({ profile }) =>
    product(endpoints(profile), [
      ...CREDENTIALS.map(([what, field]) => [what, lines(field)] as const),
      ...TWO_FIELDS,
    ]).map(
      ([{ method, target, fields, body }, [what, credentials]]): Attempt => ({
        name: `${what}, ${method} ${target}`,
        bytes: request(method, target, fields + credentials, body),
        expected: { ...refused(401), has: /\r\nwww-authenticate: (?:Bearer|DPoP) [^\r]*resource_metadata="/i },
      }),
    ),
};

const MISPLACED: readonly (readonly [string, (endpoint: Endpoint) => string])[] = [
  ['the query', (to) => withQuery(to, 'access_token={TOKEN}')],
  ['the query, as token', (to) => withQuery(to, 'token={TOKEN}')],
  ['the query, as authorization', (to) => withQuery(to, 'authorization=Bearer%20{TOKEN}')],
  ['a cookie', (to) => withField(to, 'Cookie: access_token={TOKEN}')],
  ['a cookie named Authorization', (to) => withField(to, 'Cookie: Authorization=Bearer%20{TOKEN}')],
  ['the cookie of the school', (to) => withField(to, 'Cookie: school_session={TOKEN}')],
  ['the cookie of the gate', (to) => withField(to, 'Cookie: __Host-coursegate={TOKEN}; coursegate={TOKEN}')],
  ['X-Access-Token', (to) => withField(to, 'X-Access-Token: {TOKEN}')],
  ['X-Authorization', (to) => withField(to, 'X-Authorization: Bearer {TOKEN}')],
  ['X-Forwarded-Authorization', (to) => withField(to, 'X-Forwarded-Authorization: Bearer {TOKEN}')],
  ['Proxy-Authorization', (to) => withField(to, 'Proxy-Authorization: Bearer {TOKEN}')],
  ['Authorization with an underscore before it', (to) => withField(to, '_Authorization: Bearer {TOKEN}')],
  ['X-API-Key', (to) => withField(to, 'X-API-Key: {TOKEN}')],
  ['Sec-WebSocket-Protocol', (to) => withField(to, 'Sec-WebSocket-Protocol: bearer, {TOKEN}')],
  ['Referer', (to) => withField(to, 'Referer: {ORIGIN}/?access_token={TOKEN}')],
];

function withQuery({ method, target, fields, body }: Endpoint, query: string): string {
  return request(method, `${target}${target.includes('?') ? '&' : '?'}${query}`, fields, body);
}

function withField({ method, target, fields, body }: Endpoint, field: string): string {
  return request(method, target, fields + lines(field), body);
}

/** A valid token outside Authorization is ignored: the response is 401 or the anonymous one. */
export const misplacedTokens: Family<SchoolStand> = {
  name: 'tokens outside the Authorization header',
  attempts: ({ profile }) =>
    product(endpoints(profile), MISPLACED).map(([endpoint, [what, bytes]]): Attempt => {
      const { method, target, open } = endpoint;
      // The school itself refuses anonymous requests for orders.
      const served = target.includes('/orders') ? 403 : 200;
      const school = open && target !== '/mcp' ? { upstream: ['some'] } : {};
      return {
        name: `in ${what}, ${method} ${target}`,
        bytes: bytes(endpoint),
        // No response contains the member's record, although the request contains the token.
        expected: { statuses: [open ? served : 401], ...school, lacks: /m-1001|student@example\.com/ },
      };
    }),
};

/** Headers that name another member, with and without a valid token. No response may contain that member's record. */
export const impersonation: Family<SchoolStand> = {
  name: 'identity headers of another member',
  attempts: ({ profile }) =>
    product(product(RESERVED, SPELLINGS.slice(0, 4)), [AS_MEMBER, '']).map(
      ([[name, [how, spell]], credentials]): Attempt => {
        const served = credentials !== '' || profile === 'B';
        return {
          name: `${name}, ${how}, ${credentials === '' ? 'without' : 'with'} a token`,
          bytes: request('GET', '/api/v1/whoami', credentials + lines(`${spell(name)}: m-1002`)),
          expected: {
            statuses: [served ? 200 : 401],
            ...(served ? { upstream: ['some'] } : {}),
            ...(credentials === '' ? {} : { has: /"member_id":"m-1001"/ }),
            lacks: /m-1002/,
          },
        };
      },
    ),
};
