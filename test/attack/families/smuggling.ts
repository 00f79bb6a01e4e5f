import { SMUGGLED, type Smuggled } from '../../support/smuggling.ts';
import { AS_MEMBER, type Attempt, lines, product, refused, seeded } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

/** The target and sender of a message. On `protected` without a token, the gate responds without calling the upstream. */
const LANES = [
  { lane: 'open', path: '/public', fields: '' },
  { lane: 'open with a token', path: '/public', fields: AS_MEMBER },
  { lane: 'protected with a token', path: '/member', fields: AS_MEMBER },
  { lane: 'protected without a token', path: '/member', fields: '' },
  { lane: 'site', path: '/pages', fields: '' },
] as const;
type Lane = (typeof LANES)[number];

/** What precedes the message on its connection. */
const POSITIONS = ['first', 'second'] as const;

const next = (path: string) => `GET ${path}/next HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n`;

/** Every message that servers have read differently: on every lane, first and second on a connection, whole and split. */
export const smuggling: Family<ProxyStand> = {
  name: 'request smuggling',
  attempts: () => {
    const random = seeded(20_261_122);
    return product(SMUGGLED, LANES).flatMap(([vector, lane]) =>
      POSITIONS.flatMap((position): Attempt[] => {
        const whole = message(vector, lane, position);
        const cut = random();
        return [whole, { ...whole, name: `${whole.name}, cut at ${cut.toFixed(3)}`, cut }];
      }),
    );
  },
};

function message(vector: Smuggled, lane: Lane, position: (typeof POSITIONS)[number]): Attempt {
  const { path, fields } = lane;
  const bytes = vector.bytes
    .replaceAll('LANE', path)
    .replaceAll('HOST', '{HOST}')
    .replace('Host: {HOST}\r\n', `Host: {HOST}\r\n${fields}`);
  const first =
    position === 'first' ? { statuses: [], upstream: [] } : { statuses: [200], upstream: ['GET /public/first'] };
  const method = bytes.slice(0, bytes.indexOf(' '));
  const common = {
    name: `${vector.check}: ${vector.what}, ${position}, ${lane.lane}`,
    bytes: bytes + next('/public'),
    ...(position === 'first' ? {} : { first: 'GET /public/first HTTP/1.1\r\nHost: {HOST}\r\n\r\n' }),
  };
  if (vector.gate === 'refused') {
    // The refusal closes the connection: bytes that follow are never read as a request.
    // If the token is missing and the error is in the body, the head is refused before the body is read.
    const refusal = [400, 413, 414, 431, 505, ...(lane.lane === 'protected without a token' ? [401] : [])];
    const mayReset = bytes.length > 100_000;
    return { ...common, expected: { statuses: [...first.statuses, refusal], mayReset, upstream: first.upstream } };
  }
  const { body, then } = vector.gate;
  // Refusing an unread body closes the connection.
  const unread = lane.lane === 'protected without a token' && /^Transfer-Encoding:\s*chunked/im.test(bytes);
  const more =
    then === 'next' && !unread ? { statuses: [200], upstream: ['GET /public/next'] } : { statuses: [], upstream: [] };
  if (lane.lane === 'protected without a token') {
    return {
      ...common,
      expected: {
        statuses: [...first.statuses, 401, ...more.statuses],
        upstream: [...first.upstream, ...more.upstream],
      },
    };
  }
  const seen = `${method} ${path}/x${body === '' ? '' : ` ${body}`}`;
  return {
    ...common,
    expected: {
      statuses: [...first.statuses, 200, ...more.statuses],
      upstream: [...first.upstream, seen, ...more.upstream],
    },
  };
}

/** Disguised transfer codings, each with a Content-Length: two framings are always refused. */
const CODINGS = [
  ...['chunked', 'Chunked', 'CHUNKED', 'chunked ', '\tchunked', 'xchunked', 'identity', 'gzip, chunked'],
  ...['chunked, chunked', 'chunked, identity', '"chunked"', 'chunked;q=1', ',chunked', 'chunked,', '\x0bchunked'],
];
const LENGTHS = ['0', '3', '5', '13', '100'];
const HIDDEN = 'GET /member/hidden HTTP/1.1\r\nHost: {HOST}\r\nX-Member-Id: evil\r\n\r\n';

export const twoFramings: Family<ProxyStand> = {
  name: 'two framings of one body',
  attempts: () =>
    product(product(CODINGS, LENGTHS), LANES).flatMap(([[coding, length], { lane, path, fields }]) =>
      [
        ['coding first', lines(`Transfer-Encoding: ${coding}`, `Content-Length: ${length}`)],
        ['length first', lines(`Content-Length: ${length}`, `Transfer-Encoding: ${coding}`)],
      ].map(
        ([order = '', framing = '']): Attempt => ({
          name: `${JSON.stringify(coding)} and a length of ${length}, ${order}, ${lane}`,
          bytes: `POST ${path}/x HTTP/1.1\r\n${lines('Host: {HOST}')}${fields}${framing}\r\n0\r\n\r\n${HIDDEN}${next(path)}`,
          expected: refused(400),
        }),
      ),
    ),
};
