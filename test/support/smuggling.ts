/**
 * Messages that servers have parsed differently (RFC 9112; catalogue B080 to B097). HOST stands for the gate's host,
 * LANE for the path prefix of the lane. A second request follows each message on the same connection.
 */
export interface Smuggled {
  readonly check: string;
  readonly what: string;
  readonly bytes: string;
  /**
   * The outcome at the gate alone. `refused`: a 4xx response, the connection is closed, the second request is not
   * served, and no complete request reaches the upstream. Otherwise: the body of the request that the upstream
   * receives, and whether the second request is served or the connection closed.
   */
  readonly gate: 'refused' | { readonly body: string; readonly then: 'next' | 'closed' };
}

const HIDDEN = 'GET /public/hidden HTTP/1.1\r\nHost: evil.test\r\n\r\n';

const refused = (check: string, what: string, bytes: string): Smuggled => ({ check, what, bytes, gate: 'refused' });
const taken = (
  check: string,
  what: string,
  bytes: string,
  body: string,
  then: 'next' | 'closed' = 'next',
): Smuggled => ({
  check,
  what,
  bytes,
  gate: { body, then },
});
const post = (fields: string, body: string, version = '1.1') =>
  `POST LANE/x HTTP/${version}\r\nHost: HOST\r\n${fields}\r\n${body}`;
const get = (fields: string, version = '1.1') => `GET LANE/x HTTP/${version}\r\n${fields}\r\n`;
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

export const SMUGGLED: readonly Smuggled[] = [
  refused('B080', 'a length and chunks', post('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\nG')),
  refused(
    'B080',
    'chunks and a length',
    post('Transfer-Encoding: chunked\r\nContent-Length: 100\r\n', `0\r\n\r\n${HIDDEN}`),
  ),
  refused('B081', 'the same length twice', post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc')),
  refused('B081', 'two lengths', post('Content-Length: 3\r\nContent-Length: 0\r\n', 'abc')),
  refused('B081', 'a list of lengths', post('Content-Length: 3, 3\r\n', 'abc')),
  ...['+3', '0x3', '-1', '3 3', '3.0', '3e0', '99999999999999999999', '3\x0b', ''].map((length) =>
    refused('B081', `the length ${JSON.stringify(length)}`, post(`Content-Length: ${length}\r\n`, 'abc')),
  ),
  taken('B081', 'a length with zeros before it', post('Content-Length: 003\r\n', 'abc'), 'abc'),
  ...[
    'xchunked',
    'chunked, identity',
    'identity',
    '\x0bchunked',
    'chunked\0',
    '"chunked"',
    'chunked;x=y',
    'chunked,',
    ',chunked',
  ].map((coding) =>
    refused('B082', `the coding ${JSON.stringify(coding)}`, post(`Transfer-Encoding: ${coding}\r\n`, chunked('abc'))),
  ),
  taken('B082', 'a coding after a tab, in capitals', post('Transfer-Encoding:\tCHUNKED \r\n', chunked('abc')), 'abc'),
  refused('B083', 'a coding under chunks', post('Transfer-Encoding: gzip, chunked\r\n', chunked('abc'))),
  refused(
    'B084',
    'the coding twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', chunked('abc')),
  ),
  refused('B084', 'two codings', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', chunked('abc'))),
  taken(
    'B084',
    'a coding spelled with an underscore',
    post('Transfer_Encoding: chunked\r\nContent-Length: 3\r\n', 'abc'),
    'abc',
  ),
  refused(
    'B084',
    'framing in a trailer',
    post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\nContent-Length: 100\r\n\r\n'),
  ),
  ...[
    ['a space before the colon', 'X-Member-Id : evil'],
    ['a tab before the colon', 'X-Member-Id\t: evil'],
    ['a folded line', 'A: b\r\n X-Member-Id: evil'],
    ['a folded identity', 'X-Member-Id:\r\n evil'],
    ['a bare LF', 'A: b\nX-Member-Id: evil'],
    ['a bare CR', 'A: b\rX-Member-Id: evil'],
    ['NUL in a value', 'A: b\0X-Member-Id: evil'],
    ['NUL in a name', 'X-Member-Id\0: evil'],
    ['no colon', 'X-Member-Id evil'],
    ['no name', ': evil'],
  ].map(([what = '', field = '']) => refused('B005', what, get(`Host: HOST\r\n${field}\r\n`))),
  refused('B009', 'more fields than are read', get(`Host: HOST\r\n${'A:1\r\n'.repeat(2_100)}X-Member-Id: evil\r\n`)),
  refused(
    'B009',
    'more bytes of fields than are read',
    get(`Host: HOST\r\nA: ${'x'.repeat(16_384)}\r\nX-Member-Id: evil\r\n`),
  ),
  taken(
    'B008',
    'a host and a token in a trailer',
    post(
      'Transfer-Encoding: chunked\r\nTrailer: Host\r\n',
      '3\r\nabc\r\n0\r\nHost: evil\r\nAuthorization: Bearer evil\r\n\r\n',
    ),
    'abc',
  ),
  refused(
    'B008',
    'a coding in a trailer',
    post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ),
  taken(
    'B008',
    'an identity in a trailer',
    post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\nX-Member-Id: evil\r\n\r\n'),
    'abc',
  ),
  refused('B085', 'chunks in HTTP/1.0', post('Transfer-Encoding: chunked\r\n', chunked('abc'), '1.0')),
  taken('B085', 'HTTP/1.0 that would go on', get('Host: HOST\r\nConnection: keep-alive\r\n', '1.0'), '', 'closed'),
  ...['2.0', '1.2', '0.9', '3.0', '1.10', '01.1'].map((version) =>
    refused('B086', `HTTP/${version}`, get('Host: HOST\r\n', version)),
  ),
  refused('B086', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  refused('B086', 'no version', 'GET LANE/x\r\n\r\n'),
  refused('B087', 'two hosts', get('Host: HOST\r\nHost: evil.test\r\n')),
  refused('B087', 'no host', get('')),
  ...['a/b', 'a b', 'a:99999', 'a:b', '[::1', '', 'a@b', 'a,b', 'a\\b', 'a\tb', '\xe4'].map((host) =>
    refused('B087', `the host ${JSON.stringify(host)}`, get(`Host: ${host}\r\n`)),
  ),
  refused(
    'B088',
    'an extension of a megabyte',
    post('Transfer-Encoding: chunked\r\n', `3;${'x'.repeat(1_000_000)}\r\nabc\r\n0\r\n\r\n`),
  ),
  refused('B088', 'LF after the size', post('Transfer-Encoding: chunked\r\n', '3\nabc\r\n0\r\n\r\n')),
  ...['0x3', '-3', '+3', '00000000000000003x', 'fffffffffffffffff', ' 3', '3 3', ''].map((size) =>
    refused(
      'B088',
      `the size ${JSON.stringify(size)}`,
      post('Transfer-Encoding: chunked\r\n', `${size}\r\nabc\r\n0\r\n\r\n`),
    ),
  ),
  refused('B088', 'no CRLF after a chunk', post('Transfer-Encoding: chunked\r\n', '3\r\nabc0\r\n\r\n')),
  refused('B088', 'a chunk beyond its size', post('Transfer-Encoding: chunked\r\n', '3\r\nabcdef\r\n0\r\n\r\n')),
  taken('B088', 'an extension', post('Transfer-Encoding: chunked\r\n', '3;x=y\r\nabc\r\n0\r\n\r\n'), 'abc'),
  refused('B088', 'LF in an extension', post('Transfer-Encoding: chunked\r\n', '3;x\nabc\r\n0\r\n\r\n')),
  refused(
    'B088',
    'LF behind an extension',
    post('Transfer-Encoding: chunked\r\n', `2;\nxx\r\n32\r\n0\r\n\r\n${HIDDEN}`),
  ),
  refused('B088', 'a CR in an extension', post('Transfer-Encoding: chunked\r\n', '3;x\ry\r\nabc\r\n0\r\n\r\n')),
  refused('B088', 'LF after the last chunk', post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\n\n')),
  taken('B089', 'a GET with a body', `${get('Host: HOST\r\nContent-Length: 3\r\n')}abc`, 'abc'),
  taken('B089', 'a GET of length 0', get('Host: HOST\r\nContent-Length: 0\r\n'), ''),
  taken(
    'B089',
    'a GET with a request in its body',
    get(`Host: HOST\r\nContent-Length: ${HIDDEN.length + 100}\r\n`) + HIDDEN.padEnd(HIDDEN.length + 100),
    HIDDEN.padEnd(HIDDEN.length + 100),
  ),
  taken(
    'B089',
    'a GET with a request in a chunk',
    get(`Host: HOST\r\nTransfer-Encoding: chunked\r\n`) + chunked(HIDDEN),
    HIDDEN,
  ),
  taken(
    'B089',
    'OPTIONS with a request in a chunk (TE.0)',
    `OPTIONS LANE/x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(HIDDEN)}`,
    HIDDEN,
  ),
  taken('B089', 'a request as the body of a POST (CL.0)', post(`Content-Length: ${HIDDEN.length}\r\n`, HIDDEN), HIDDEN),
  taken(
    'B007',
    'chunks named by Connection',
    post('Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n', chunked('abc')),
    'abc',
  ),
  taken('B090', 'another request behind it', get('Host: HOST\r\n'), ''),
  taken(
    'B095',
    'a request in a chunk',
    post('Transfer-Encoding: chunked\r\n', `5\r\n0\r\n\r\n\r\n0\r\n\r\n`),
    '0\r\n\r\n',
  ),
  taken(
    'B097',
    'h2c',
    get('Host: HOST\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'),
    '',
    'closed',
  ),
  taken(
    'B007',
    'framing named by Connection',
    post('Connection: content-length, host\r\nContent-Length: 3\r\n', 'abc'),
    'abc',
  ),
  refused('B005', 'a space before the colon', post('Content-Length : 3\r\n', 'abc')),
  refused('B005', 'a folded line', post('Transfer-Encoding:\r\n chunked\r\n', chunked('abc'))),
  refused('B005', 'a line that ends in LF', post('X: y\nContent-Length: 3\r\n', 'abc')),
  refused('B005', 'a CR in a line', post('X: y\rContent-Length: 3\r\n', 'abc')),
  refused('B005', 'a NUL in a line', post('X: y\0z\r\nContent-Length: 3\r\n', 'abc')),
  refused('B005', 'a field without a name', post(': y\r\nContent-Length: 3\r\n', 'abc')),
  refused('B005', 'a field without a colon', post('Content-Length\r\n', 'abc')),
  refused('B005', 'a space before the first field', `GET LANE/x HTTP/1.1\r\n Host: HOST\r\nHost: HOST\r\n\r\n`),
  refused('B005', 'a CR and no LF', `GET LANE/x HTTP/1.1\rHost: HOST\r\r`),
];
