import { AS_MEMBER, type Attempt, lines, product, refused, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

const LANES = [
  { lane: 'protected', target: '/member/x', fields: AS_MEMBER },
  { lane: 'open', target: '/public/x', fields: '' },
  { lane: 'site', target: '/pages/x', fields: '' },
] as const;

const REFUSED_METHODS: readonly (readonly [string, number])[] = [
  ['TRACE', 405],
  ['TRACK', 400],
  ['DEBUG', 400],
  ['get', 400],
  ['GeT', 400],
  ['GETX', 400],
  ['FOO', 400],
  ['G\x00ET', 400],
  ['\x00GET', 400],
  ['GET\t', 400],
  ['G\xc9T', 400],
  ['A'.repeat(1_024), 400],
  ['__proto__', 400],
];
const OVERRIDES = [
  'X-HTTP-Method-Override',
  'X-Method-Override',
  'X-HTTP-Method',
  'X_HTTP_Method_Override',
  'x.http.method',
];

export const methods: Family<ProxyStand> = {
  name: 'methods',
  attempts: () => [
    ...product(REFUSED_METHODS, LANES).map(
      ([[method, status], { lane, target, fields }]): Attempt => ({
        name: `${JSON.stringify(method.slice(0, 20))}, ${lane}`,
        bytes: request(method, target, fields),
        expected: refused(status),
      }),
    ),
    ...product(['/member/x', 'evil.test:443', '{HOST}', '127.0.0.1:22'], ['', AS_MEMBER]).map(
      ([target, fields]): Attempt => ({
        name: `CONNECT ${target}, ${fields === '' ? 'without' : 'with'} a token`,
        bytes: request('CONNECT', target, fields),
        expected: refused(405),
      }),
    ),
    // A route for reading allows no other method, whatever the headers.
    ...product(
      ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MKCOL', 'LOCK', 'PURGE', 'QUERY'],
      ['', ...OVERRIDES],
    ).map(
      ([method, override]): Attempt => ({
        name: `${method} for reading, with ${override || 'nothing'}`,
        bytes: request(method, '/reading/x', AS_MEMBER + (override === '' ? '' : lines(`${override}: GET`))),
        expected: refused(405),
      }),
    ),
    ...product(OVERRIDES, ['DELETE', 'PUT', 'PATCH', 'TRACE']).map(
      ([override, method]): Attempt => ({
        name: `GET with ${override}: ${method}`,
        bytes: request('GET', '/reading/x', AS_MEMBER + lines(`${override}: ${method}`)),
        expected: { statuses: [200], upstream: ['GET /reading/x'] },
      }),
    ),
  ],
};

const HOSTS_REFUSED: readonly (readonly [string, string])[] = [
  ['two hosts', lines('Host: {HOST}', 'Host: {HOST}')],
  ['two hosts in two cases', lines('Host: {HOST}', 'hOST: evil.test')],
  ['a list of hosts', lines('Host: {HOST}, evil.test')],
  ['no host', ''],
  ['an empty host', lines('Host: ')],
  ['a host with a path', lines('Host: {HOST}/x')],
  ['a host with a user', lines('Host: user@{HOST}')],
  ['a host with a query', lines('Host: {HOST}?x')],
  ['a host with a fragment', lines('Host: {HOST}#x')],
  ['a host with a space', lines('Host: {HOST} evil.test')],
  ['a host with a backslash', lines('Host: {HOST}\\evil.test')],
  ['a port that is none', lines('Host: localhost:99999')],
  ['a port of letters', lines('Host: localhost:http')],
  ['half an IPv6 address', lines('Host: [::1')],
  ['a host of bytes beyond ASCII', lines('Host: \xe4.test')],
];
const HOSTS_IGNORED = [
  'evil.test',
  'evil.test:443',
  'localhost.evil.test',
  '127.0.0.1',
  '[::1]:80',
  'localhost',
  'EVIL.TEST',
];
const TARGETS_REFUSED = [
  ...[
    'http://evil.test/public/x',
    'https://{HOST}/public/x',
    'http://localhost:1/public/x',
    '{ORIGIN}.evil.test/public/x',
  ],
  ...[
    'http://user@{HOST}/public/x',
    '{ORIGIN}@evil.test/public/x',
    'ftp://{HOST}/public/x',
    '//{HOST}/public/x',
    'public/x',
  ],
  ...['http:///public/x', '/public/x#y', 'file:///etc/passwd', '*', '{HOST}', '?x', ''],
];

export const targetsAndHosts: Family<ProxyStand> = {
  name: 'request targets and hosts',
  attempts: () => [
    ...product(HOSTS_REFUSED, LANES).flatMap(([[what, host], { lane, target, fields }]): Attempt[] =>
      [target, `{ORIGIN}${target}`].map((form) => ({
        name: `${what}, ${form}, ${lane}`,
        bytes: `GET ${form} HTTP/1.1\r\n${host}${fields}${lines('Connection: close')}\r\n`,
        expected: refused(400),
      })),
    ),
    // Whatever Host says, the upstream sees only the one origin.
    ...product(HOSTS_IGNORED, LANES).map(
      ([host, { lane, target, fields }]): Attempt => ({
        name: `Host: ${host}, ${lane}`,
        bytes: `GET ${target} HTTP/1.1\r\n${lines(`Host: ${host}`, 'Connection: close')}${fields}\r\n`,
        expected: { statuses: [200], upstream: [`GET ${target}`] },
      }),
    ),
    ...product(TARGETS_REFUSED, ['GET', 'POST', 'HEAD']).map(
      ([target, method]): Attempt => ({
        name: `${method} ${target}`,
        bytes: request(method, target),
        expected: refused(400),
      }),
    ),
  ],
};
