import { valuesOf } from '../../support/strict-http.ts';
import { AS_MEMBER, type Attempt, lines, product, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

/** Headers that a backend might trust, as listed in the gate's documentation. */
export const RESERVED = [
  ...['X-Member-Id', 'X-Member-Email', 'X-Member-Scope', 'X-Member-Name', 'X-Client-Id', 'X-Coursegate-Assertion'],
  ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-User', 'X-Real-IP', 'Forwarded'],
  ...['X-Remote-User', 'Remote-User', 'X-Auth-Request-User', 'SSL-Client-Verify', 'True-Client-IP', 'X-Original-URL'],
  ...['X-Rewrite-URL', 'X-HTTP-Method-Override', 'Proxy', 'Proxy-Authorization', 'X-Accel-Redirect', 'X-Request-Id'],
  ...[
    'traceparent',
    'tracestate',
    'X-Userinfo',
    'X-Goog-IAP-JWT-Assertion',
    'X-WebAuth-User',
    'Cf-Access-Jwt-Assertion',
  ],
];

/** Spellings that CGI, WSGI and frameworks fold into the same name, so all of them must be removed. */
export const SPELLINGS: readonly (readonly [string, (name: string) => string])[] = [
  ['as documented', (name) => name],
  ['lower case', (name) => name.toLowerCase()],
  ['upper case', (name) => name.toUpperCase()],
  ['underscores', (name) => name.replaceAll('-', '_')],
  ['dots', (name) => name.replaceAll('-', '.')],
  ['tildes', (name) => name.replaceAll('-', '~')],
  ['one underscore', (name) => name.replace('-', '_')],
];

export const HEADER_LANES = [
  { lane: 'protected', target: '/member/x', fields: AS_MEMBER, upgrade: false },
  { lane: 'open', target: '/public/x', fields: '', upgrade: false },
  { lane: 'site', target: '/pages/x', fields: '', upgrade: false },
  {
    lane: 'a WebSocket of the site',
    target: '/pages/socket',
    fields: lines('Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='),
    upgrade: true,
  },
] as const;

/** An attempt whose headers must not reach the upstream, which responds with all headers that contain `evil`. */
export function forged(
  stand: ProxyStand,
  name: string,
  { lane, target, fields, upgrade }: (typeof HEADER_LANES)[number],
  sent: string,
): Attempt {
  const connection = upgrade ? 'Upgrade' : 'close';
  return {
    name: `${name}, ${lane}`,
    before: () => tellOfEvil(stand),
    bytes: request('GET', target, fields + sent).replace('Connection: close', `Connection: ${connection}`),
    expected: {
      statuses: [upgrade ? 403 : 200],
      upstream: [`GET ${target}`],
      has: lane === 'protected' ? /told: m-1;/ : /told: ;/,
      lacks: /evil/,
    },
  };
}

/** The upstream responds with the identity it received, and every header that contains `evil`. */
function tellOfEvil({ upstream }: ProxyStand): void {
  upstream.script(({ headers }, socket) => {
    const evil = headers.filter((field) => field.join().includes('evil')).map((field) => field.join('='));
    const body = `told: ${valuesOf(headers, 'x-member-id').join()};${evil.join()}`;
    const status = valuesOf(headers, 'upgrade').length > 0 ? '403 Forbidden' : '200 OK';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}

export const forgedHeaders: Family<ProxyStand> = {
  name: 'forged headers',
  attempts: (stand) => [
    ...product(product(RESERVED, SPELLINGS), HEADER_LANES).map(([[field, [how, spell]], lane]) =>
      forged(stand, `${field}, ${how}`, lane, lines(`${spell(field)}: evil`)),
    ),
    // Sent twice, so that one would remain if only the first were removed.
    ...product(RESERVED, HEADER_LANES).map(([field, lane]) =>
      forged(stand, `${field} twice`, lane, lines(`${field}: evil`, `${field}: evil`)),
    ),
  ],
  async after({ answerWithRecords }) {
    answerWithRecords();
    return [];
  },
};

/** A client must not be able to remove the gate's headers by naming them in Connection (RFC 9110 section 7.6.1). */
export const connectionNames: Family<ProxyStand> = {
  name: 'header names in Connection',
  attempts: () =>
    product([...RESERVED, 'Host', 'Content-Length', 'Cookie', 'Authorization', 'Connection'], [
      ['/member/x', AS_MEMBER, /record-of-m-1$/],
      ['/public/x', '', /record-of-nobody$/],
      ['/public/x', AS_MEMBER, /record-of-m-1$/],
      ['/pages/x', '', /record-of-nobody$/],
    ] as const).map(
      ([name, [target, fields, has]]): Attempt => ({
        name: `Connection: ${name}, ${target}, ${fields === '' ? 'without' : 'with'} a token`,
        bytes: request('GET', target, fields).replace('Connection: close', `Connection: close, ${name}`),
        expected: { statuses: [200], upstream: [`GET ${target}`], has },
      }),
    ),
};
