/**
 * What the upstream does after it has written its bytes. PAUSE in the bytes waits until those before it have been sent.
 */
export type Ending = 'stay' | 'end' | 'reset';

const ok = (fields: string, rest = '') => `HTTP/1.1 200 OK\r\n${fields}\r\n${rest}`;
const CL = 'Content-Length: 2\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/**
 * `both` is what a client sees on the protected lane and on the site lane; `site`, if given, replaces it for the site
 * lane.
 */
type Row = readonly [check: string, what: string, bytes: string, ending: Ending, both: string, site?: string];

/** Malformed upstream responses (catalogue B102, B103, B141 to B148), and what a client sees of each. */
export const UPSTREAM_ANSWERS: readonly Row[] = [
  ['B102', 'Trailer with a length', ok(`Trailer: x\r\n${CL}`, 'ok'), 'stay', '200 ok'],
  ['B102', 'Trailer on a 204', 'HTTP/1.1 204 No Content\r\nTrailer: x\r\n\r\n', 'stay', '204'],
  ['B102', 'a trailer', ok(CHUNKED, '2\r\nok\r\n0\r\nX-Member-Id: evil\r\n\r\n'), 'stay', '200 ok'],
  ['B102', 'a control character in the reason', `HTTP/1.1 200 O\x01K\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'Latin-1 in the reason', `HTTP/1.1 200 O\xffK\r\n${CL}\r\nok`, 'stay', '200 ok'],
  ['B102', 'status 000', `HTTP/1.1 000 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status 099', `HTTP/1.1 099 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status 600', `HTTP/1.1 600 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status 999', `HTTP/1.1 999 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status 1000', `HTTP/1.1 1000 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status 20', `HTTP/1.1 20 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'status of letters', `HTTP/1.1 abc OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  [
    'B102',
    '101 unasked',
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhi',
    'stay',
    '502 upstream_invalid',
  ],
  ['B148', '103 first', `HTTP/1.1 103 E\r\nLink: <x>\r\n\r\n${ok(CL, 'ok')}`, 'stay', '200 ok'],
  // Nobody has asked for it.
  ['B148', '100 first', `HTTP/1.1 100 C\r\n\r\n${ok(CL, 'ok')}`, 'stay', '502 upstream_invalid'],
  ['B148', '102 first', `HTTP/1.1 102 P\r\n\r\n${ok(CL, 'ok')}`, 'stay', '200 ok'],
  ['B148', '103 and nothing', 'HTTP/1.1 103 E\r\nLink: <x>\r\n\r\n', 'stay', '504 upstream_timeout'],
  ['B102', 'length and chunks', ok(`${CL}${CHUNKED}`, '2\r\nok\r\n0\r\n\r\n'), 'stay', '502 upstream_invalid'],
  ['B102', 'chunks and length', ok(`${CHUNKED}${CL}`, '2\r\nok\r\n0\r\n\r\n'), 'stay', '502 upstream_invalid'],
  ['B102', 'two lengths', ok(`${CL}Content-Length: 3\r\n`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'the same length twice', ok(CL + CL, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a negative length', ok('Content-Length: -1\r\n', 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a length in hex', ok('Content-Length: 0x2\r\n', 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a length nobody counts', ok(`Content-Length: ${'9'.repeat(30)}\r\n`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B144', 'more than its length', ok(CL, 'ok and more'), 'stay', '200 ok'],
  ['B144', 'more than its length, later', ok(CL, 'okPAUSE and more'), 'stay', '200 ok'],
  ['B144', 'two answers', ok(CL, `ok${ok(CL, 'no')}`), 'stay', '200 ok'],
  ['B102', 'a body on a 204', `HTTP/1.1 204 No Content\r\n${CL}\r\nok`, 'stay', '204'],
  ['B102', 'a body on a 304', `HTTP/1.1 304 Not Modified\r\n${CL}\r\nok`, 'stay', '304'],
  ['B143', 'a bad first chunk', ok(CHUNKED, 'zz\r\n'), 'stay', 'cut 200'],
  ['B143', 'a chunk size nobody counts', ok(CHUNKED, 'fffffffffffffffff\r\n'), 'stay', 'cut 200'],
  ['B143', 'a bad chunk in the body', ok(CHUNKED, '5\r\nhello\r\nPAUSEzz\r\n'), 'stay', 'cut 200 5|hello|'],
  ['B143', 'no CRLF after a chunk', ok(CHUNKED, '5\r\nhelloPAUSExx'), 'stay', 'cut 200 5|hello|'],
  ['B102', 'an unknown coding', ok('Transfer-Encoding: xchunked\r\n', 'ok'), 'end', '502 upstream_invalid'],
  [
    'B102',
    'a coding under chunks',
    ok('Transfer-Encoding: gzip, chunked\r\n', '2\r\nok\r\n0\r\n\r\n'),
    'stay',
    '502 upstream_invalid',
  ],
  ['B102', '20 kB of a field', ok(`X: ${'a'.repeat(20_000)}\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', '2,000 fields', ok(`${'X: a\r\n'.repeat(2_000)}${CL}`, 'ok'), 'stay', '200 ok'],
  ['B102', 'lines ended by LF', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 'stay', '502 upstream_invalid'],
  ['B102', 'NUL in a value', ok(`X: a\0b\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a control character in a value', ok(`X: a\x01b\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a space in a name', ok(`X Y: a\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a space behind a name', ok(`X : a\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'an empty name', ok(`: a\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  ['B102', 'a folded line', ok(`X: a\r\n b\r\n${CL}`, 'ok'), 'stay', '502 upstream_invalid'],
  [
    'B103',
    'names of prototypes',
    ok(`__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\n${CL}`, 'ok'),
    'stay',
    '200 ok',
  ],
  ['B103', 'names of prototypes in a trailer', ok(CHUNKED, '2\r\nok\r\n0\r\n__proto__: x\r\n\r\n'), 'stay', '200 ok'],
  ['B103', 'cookies of prototypes', ok(`Set-Cookie: __proto__=a; constructor=b\r\n${CL}`, 'ok'), 'stay', '200 ok'],
  ['B102', 'a Location nobody can read', `HTTP/1.1 302 Found\r\nLocation: http://[\r\n${CL}\r\nok`, 'stay', '302 ok'],
  ['B102', 'garbage', '\x16\x03\x01\x02\x00\x01\x00\x01', 'stay', '502 upstream_invalid'],
  ['B102', 'another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'stay', '502 upstream_invalid'],
  ['B102', 'HTTP/2.0', `HTTP/2.0 200 OK\r\n${CL}\r\nok`, 'stay', '502 upstream_invalid'],
  ['B102', 'half a head', 'HTTP/1.1 200 OK\r\nContent-Le', 'stay', '504 upstream_timeout'],
  ['B102', 'half a head and the end', 'HTTP/1.1 200 OK\r\nContent-Le', 'end', '502 upstream_unreachable'],
  ['B102', 'half a head and a reset', 'HTTP/1.1 200 OK\r\nContent-Le', 'reset', '502 upstream_unreachable'],
  ['B102', 'nothing and the end', '', 'end', '502 upstream_unreachable'],
  ['B102', 'nothing and a reset', '', 'reset', '502 upstream_unreachable'],
  ['B102', 'nothing', '', 'stay', '504 upstream_timeout'],
  ['B102', 'HTTP/1.0 until the end', 'HTTP/1.0 200 OK\r\n\r\nok', 'end', '200 ok'],
  ['B141', 'chunks and a reset', ok(CHUNKED, '5\r\nhello\r\n'), 'reset', 'cut 200 5|hello|'],
  ['B141', 'chunks and the end', ok(CHUNKED, '5\r\nhello\r\n'), 'end', 'cut 200 5|hello|'],
  ['B141', 'half a chunk and the end', ok(CHUNKED, '9\r\nhello'), 'end', 'cut 200 5|hello|'],
  ['B142', 'half of its length and a reset', ok('Content-Length: 100\r\n', 'hello'), 'reset', 'cut 200 hello'],
  ['B142', 'half of its length and the end', ok('Content-Length: 100\r\n', 'hello'), 'end', 'cut 200 hello'],
  ['B142', 'half of its length and nothing', ok('Content-Length: 100\r\n', 'hello'), 'stay', 'cut 200 hello'],
  ['B141', 'no length and a reset', ok('Content-Type: text/plain\r\n', 'hello'), 'reset', 'cut 200 5|hello|'],
  ['B141', 'HTTP/1.0 and a reset', 'HTTP/1.0 200 OK\r\n\r\nhello', 'reset', 'cut 200 5|hello|'],
  ['B141', 'no length and the end', ok('Content-Type: text/plain\r\n', 'hello'), 'end', '200 hello'],
];

/** What a client sees instead if the upstream's client is undici, which is less strict about status lines. */
export const UNDICI_TAKES: Readonly<Record<string, string>> = {
  'a control character in the reason': '200 ok',
  'HTTP/2.0': '200 ok',
};
