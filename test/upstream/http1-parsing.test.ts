import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ChunkedBody } from '../../src/upstream/http1/chunked-body.ts';
import { responseFraming } from '../../src/upstream/http1/framing.ts';
import { requestHead } from '../../src/upstream/http1/request-head.ts';
import { ParsedHead } from '../../src/upstream/http1/response-head.ts';

/** Passes a head in pieces that end at `cuts`, each with everything before it, as a connection does. */
function head(text: string, cuts: readonly number[] = [], method = 'GET') {
  const parser = new ParsedHead();
  const bytes = Buffer.from(`??${text}`, 'latin1');
  for (const cut of cuts) {
    const length = parser.parse(bytes, 2, 2 + cut);
    if (length !== 0) return { length, early: true };
  }
  const length = parser.parse(bytes, 2, bytes.length);
  if (length === 0) return 'incomplete';
  const { status, fields } = parser;
  const { length: body, keep } = responseFraming(parser, method);
  return { length, status, fields, body: { '-1': 'chunked', '-2': 'until close' }[body] ?? body, keep };
}

const INVALID = { code: 'upstream_invalid' };

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
}

describe('the head of a response', () => {
  const WHOLE =
    'HTTP/1.1 200 OK\r\nA: b \t c\t \r\nEmpty:\r\nset-cookie:1\r\nSet-Cookie: \xe4\r\nContent-Length: 5\r\n\r\n';

  it('is the same wherever it is cut', () => {
    const expected = {
      length: WHOLE.length,
      status: 200,
      fields: ['A', 'b \t c', 'Empty', '', 'set-cookie', '1', 'Set-Cookie', '\xe4', 'Content-Length', '5'],
      body: 5,
      keep: 4_000,
    };
    expect(head(`${WHOLE}hello`)).toEqual(expected);
    for (let cut = 0; cut < WHOLE.length; cut += 1) expect(head(WHOLE, [cut])).toEqual(expected);
    expect(
      head(
        WHOLE,
        Array.from({ length: WHOLE.length }, (_, cut) => cut),
      ),
    ).toEqual(expected);
    for (let end = 0; end < WHOLE.length; end += 1) expect(head(WHOLE.slice(0, end))).toBe('incomplete');
  });

  it.each([
    ['HTTP/1.1 200 OK', '', 'until close', 0],
    ['HTTP/1.1 200', 'Content-Length: 007', 7, 4_000],
    ['HTTP/1.1 200 ', 'Content-Length: 0', 0, 4_000],
    ['HTTP/1.1 200 \xff \t', 'CONTENT-LENGTH:\t7', 7, 4_000],
    ['HTTP/1.1 200 OK', 'transfer-encoding: Chunked', 'chunked', 4_000],
    ['HTTP/1.0 200 OK', 'Content-Length: 7\r\nConnection: keep-alive\r\nKeep-Alive: timeout=9', 7, 0],
    ['HTTP/1.0 200 OK', '', 'until close', 0],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nConnection: a, CLOSE', 7, 0],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nConnection: keep-alive\r\nConnection: close', 7, 0],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nConnection: disclose', 7, 4_000],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nKeep-Alive: timeout=2', 7, 0],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nKeep-Alive: timeout=5, max=100', 7, 3_000],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nKeep-Alive: timeout=9999', 7, 600_000],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nKeep-Alive: timeout=3\r\nKeep-Alive: timeout=9', 7, 1_000],
    ['HTTP/1.1 200 OK', 'Content-Length: 7\r\nKeep-Alive: max=3', 7, 4_000],
    ['HTTP/1.1 204 No Content', '', 0, 4_000],
    ['HTTP/1.1 204 No Content', 'Content-Length: 7', 0, 0],
    ['HTTP/1.1 304 Not Modified', 'Transfer-Encoding: chunked', 0, 0],
    ['HTTP/1.1 103 Early Hints', 'Link: <x>', 0, 4_000],
  ])('%j with %j is followed by a body of %s, and by another response for %i ms', (line, fields, body, keep) => {
    expect(head(`${line}\r\n${fields}${fields === '' ? '' : '\r\n'}\r\n`)).toMatchObject({ body, keep });
  });

  it('has nothing of the head before it on the connection', () => {
    const parser = new ParsedHead();
    const fieldsOf = (lines: readonly string[]) => {
      const bytes = Buffer.from(['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n'), 'latin1');
      parser.reset();
      expect(parser.parse(bytes, 0, bytes.length)).toBe(bytes.length);
      return parser.fields;
    };
    const sid = (value: string) => fieldsOf(['Content-Length: 2', `Set-Cookie: ${value}`, 'Vary: Accept']);
    expect(sid('a=1')).toEqual(['Content-Length', '2', 'Set-Cookie', 'a=1', 'Vary', 'Accept']);
    expect(sid('a=2')).toEqual(['Content-Length', '2', 'Set-Cookie', 'a=2', 'Vary', 'Accept']);
    expect(sid('a=21')).toEqual(['Content-Length', '2', 'Set-Cookie', 'a=21', 'Vary', 'Accept']);
    expect(fieldsOf(['Content-Length: 2', 'Vary: Accept'])).toEqual(['Content-Length', '2', 'Vary', 'Accept']);
    expect(fieldsOf([])).toEqual([]);
    expect(sid('')).toEqual(['Content-Length', '2', 'Set-Cookie', '', 'Vary', 'Accept']);
  });

  it('of a response to HEAD is followed by no body', () => {
    expect(head('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n', [], 'HEAD')).toMatchObject({ body: 0 });
    expect(head('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', [], 'HEAD')).toMatchObject({ body: 0 });
  });

  const field = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`;
  it.each([
    '\r\nHTTP/1.1 200 OK\r\n\r\n',
    ' HTTP/1.1 200 OK\r\n\r\n',
    'http/1.1 200 OK\r\n\r\n',
    'HTTP/1.2 200 OK\r\n\r\n',
    'HTTP/2.0 200 OK\r\n\r\n',
    'HTTP/0.9 200 OK\r\n\r\n',
    'HTTP/1.11 200 OK\r\n\r\n',
    'HTTP/1.1  200 OK\r\n\r\n',
    'HTTP/1.1\t200 OK\r\n\r\n',
    'HTTP/1.1 20 OK\r\n\r\n',
    'HTTP/1.1 2000 OK\r\n\r\n',
    'HTTP/1.1 099 OK\r\n\r\n',
    'HTTP/1.1 2x0 OK\r\n\r\n',
    'HTTP/1.1 +20 OK\r\n\r\n',
    'HTTP/1.1 200 O\x01K\r\n\r\n',
    'HTTP/1.1 200 O\0K\r\n\r\n',
    'HTTP/1.1 200 OK\n\r\n',
    'HTTP/1.1 200 OK\r\r\n',
    'HTTP/1.1 200 OK\r\n\n',
    'HTTP/1.1 200 OK\r\n\r\r',
    field('A: b\n c'),
    field('A: b\r\n c'),
    field('A: b\r\n\tc'),
    field('A: b\rC: d'),
    field('A: b\0'),
    field('A: \x7f'),
    field('A: b\nC: d'),
    field('A : b'),
    field('A\t: b'),
    field(' A: b'),
    field('A b: c'),
    field('A'),
    field(': b'),
    field('\xe4: b'),
    field('A\0: b'),
    field('A": b'),
    field('Content-Length: 5\r\nContent-Length: 5'),
    field('Content-Length: 5\r\ncontent-length: 6'),
    field('Content-Length: 5, 5'),
    field('Content-Length:'),
    field('Content-Length: +5'),
    field('Content-Length: -5'),
    field('Content-Length: 0x5'),
    field('Content-Length: 5 5'),
    field('Content-Length: 5 '),
    field('content-length:5\t'),
    field('Transfer-Encoding: chunked\t'),
    field('Transfer-Encoding: chunked '),
    field('Content-Length: 5.0'),
    field('Content-Length: 9007199254740993'),
    field('Content-Length: 5\r\nTransfer-Encoding: chunked'),
    field('Transfer-Encoding: chunked\r\nContent-Length: 0'),
    field('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'),
    field('Transfer-Encoding: gzip, chunked'),
    field('Transfer-Encoding: chunked, identity'),
    field('Transfer-Encoding: chunked;q=1'),
    field('Transfer-Encoding: xchunked'),
    field('Transfer-Encoding: identity'),
    field('Transfer-Encoding:'),
    field('Transfer-Encoding: "chunked"'),
    field('Transfer-Encoding: \x0bchunked'),
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n',
    'HTTP/1.0 103 Early Hints\r\n\r\n',
    field(`A: ${'b'.repeat(16_384)}`),
    field(Array.from({ length: 300 }, (_, n) => `A${n}: ${'b'.repeat(60)}`).join('\r\n')),
    `HTTP/1.1 200 ${'O'.repeat(65_600)}`,
  ])('is refused if it is %j', (text) => {
    expect(refusal(() => head(text))).toMatchObject(INVALID);
    for (let cut = 0; cut < Math.min(text.length, 200); cut += 1) {
      expect(refusal(() => head(text, [cut]))).toMatchObject(INVALID);
    }
  });

  it.each(['SSH-2.0-OpenSSH_9.2\r\n', 'HTTP/1.1 200 OK\nA', '\x16\x03\x01', 'HTTP/1.1 200 OK\r\nA b'])(
    'is refused before it is complete: %j',
    (text) => expect(refusal(() => head(text))).toMatchObject(INVALID),
  );
});

/** Reads a body that arrives in pieces. */
function chunked(text: string, cuts: readonly number[] = []) {
  let data = '';
  const body = new ChunkedBody((bytes, from, to) => {
    data += bytes.toString('latin1', from, to);
    return true;
  });
  let held = '';
  const places = [0, ...cuts, text.length];
  for (let n = 1; n < places.length && !body.isOver; n += 1) {
    const bytes = Buffer.from(held + text.slice(places[n - 1], places[n]), 'latin1');
    held = bytes.toString('latin1', body.read(bytes, 0, bytes.length));
    if (body.isOver) held += text.slice(places[n]);
  }
  return { data, isOver: body.isOver, rest: body.isOver ? held : '' };
}

describe('a chunked body', () => {
  it.each([
    ['5\r\nhello\r\n0\r\n\r\n', 'hello', ''],
    ['5\r\nhello\r\n0\r\n\r\nHTTP/1.1', 'hello', 'HTTP/1.1'],
    ['0005\r\nhello\r\nA\r\n0123456789\r\n00\r\n\r\n', 'hello0123456789', ''],
    ['5;a=b;c="d e"\r\nhello\r\n0;x\r\n\r\n', 'hello', ''],
    ['5;a;b="\\";\\\\";c=d\r\nhello\r\n0;x=""\r\n\r\n', 'hello', ''],
    ['5\r\n0\r\n\r\n\r\n0\r\n\r\n', '0\r\n\r\n', ''],
    ['2\r\nok\r\n0\r\nSet-Cookie: a=b\r\nX: y\r\n\r\nrest', 'ok', 'rest'],
    ['0\r\n\r\n', '', ''],
  ])('is the same wherever it is cut: %j', (text, data, rest) => {
    const expected = { data, isOver: true, rest };
    expect(chunked(text)).toEqual(expected);
    for (let cut = 1; cut < text.length; cut += 1) expect(chunked(text, [cut])).toEqual(expected);
    expect(
      chunked(
        text,
        Array.from({ length: text.length - 1 }, (_, cut) => cut + 1),
      ),
    ).toEqual(expected);
    const whole = text.length - rest.length;
    for (let end = 0; end < whole; end += 1) expect(chunked(text.slice(0, end)).isOver).toBe(false);
  });

  it.each([
    '\r\n',
    ' 5\r\nhello\r\n0\r\n\r\n',
    '5 \r\nhello\r\n0\r\n\r\n',
    '5 ;a\r\nhello\r\n0\r\n\r\n',
    '+5\r\nhello\r\n0\r\n\r\n',
    '-5\r\nhello\r\n0\r\n\r\n',
    '0x5\r\nhello\r\n0\r\n\r\n',
    'g\r\nhello\r\n0\r\n\r\n',
    ';a\r\nhello\r\n0\r\n\r\n',
    '00000000000005\r\nhello\r\n0\r\n\r\n',
    'ffffffffffffff\r\nhello\r\n0\r\n\r\n',
    '5\nhello\r\n0\r\n\r\n',
    '5\r\rhello\r\n0\r\n\r\n',
    '5;a\nhello\r\n0\r\n\r\n',
    '5;\r\nhello\r\n0\r\n\r\n',
    '5;=b\r\nhello\r\n0\r\n\r\n',
    '5; a=b\r\nhello\r\n0\r\n\r\n',
    '5;a=\r\nhello\r\n0\r\n\r\n',
    '5;a=b=c\r\nhello\r\n0\r\n\r\n',
    '5;a="b\r\nhello\r\n0\r\n\r\n',
    '5;a="b\r\n"\r\nhello\r\n0\r\n\r\n',
    '5;a="b"c\r\nhello\r\n0\r\n\r\n',
    '5;a="b\\\r\n"\r\nhello\r\n0\r\n\r\n',
    '5;a\0\r\nhello\r\n0\r\n\r\n',
    '5;a\rb\r\nhello\r\n0\r\n\r\n',
    `5;${'a'.repeat(17_000)}\r\nhello\r\n0\r\n\r\n`,
    '5\r\nhello0\r\n\r\n',
    '5\r\nhello\n0\r\n\r\n',
    '5\r\nhello!\r\n0\r\n\r\n',
    '5\r\nhell\r\n0\r\n\r\n',
    '5\r\nhello\r\n\r\n',
    '0\r\nA : b\r\n\r\n',
    '0\r\nA: b\n\r\n',
    '0\r\n A: b\r\n\r\n',
    '0\r\nContent-Length: 5\r\n\r\n',
    '0\r\nTransfer-Encoding: chunked\r\n\r\n',
    `0\r\nA: ${'b'.repeat(16_400)}\r\n\r\n`,
    '0\r\n\r\r',
    'HTTP/1.1 200 OK\r\n',
  ])('is refused if it is %j', (text) => {
    expect(refusal(() => chunked(text))).toMatchObject(INVALID);
    for (let cut = 1; cut < Math.min(text.length, 200); cut += 1) {
      expect(refusal(() => chunked(text, [cut]))).toMatchObject(INVALID);
    }
  });
});

describe('the head of a request', () => {
  const request = { method: 'POST', path: '/x?y', servername: '', headers: ['Host', 'a'], body: null };

  it('has what was given, and says whether the connection stays', () => {
    const headers = ['Host', 'a', 'content-length', '5', 'X', 'y'];
    const common = { 'X-Member-Id': 'm', 'X-Client-Id': 'c' };
    expect(requestHead({ ...request, headers, common, body: Readable.from([]) })).toEqual({
      text: 'POST /x?y HTTP/1.1\r\nConnection: keep-alive\r\nHost: a\r\nX: y\r\nX-Member-Id: m\r\nX-Client-Id: c',
      length: 5,
      closes: false,
      expectsBody: true,
    });
    expect(requestHead({ ...request, method: 'HEAD' }).text).toContain('\r\nConnection: close\r\n');
    expect(requestHead({ ...request, method: 'GET', body: 'x' }).closes).toBe(true);
    // Again, and not from a head that was longer.
    expect(requestHead({ ...request, common }).text).toBe(
      'POST /x?y HTTP/1.1\r\nConnection: keep-alive\r\nHost: a\r\nX-Member-Id: m\r\nX-Client-Id: c\r\nContent-Length: 0\r\n\r\n',
    );
    expect(requestHead({ ...request, headers: ['Host', 'a'], body: '\u00fc' }).text).toBe(
      'POST /x?y HTTP/1.1\r\nConnection: keep-alive\r\nHost: a\r\nContent-Length: 2\r\n\r\n',
    );
  });

  it.each([
    ['a line feed in a value', { headers: ['Host', 'a', 'X', 'b\r\nY: c'] }],
    ['a NUL in a value', { headers: ['Host', 'a', 'X', 'b\0'] }],
    ['a character beyond Latin-1', { headers: ['Host', 'a', 'X', '\u010a'] }],
    ['a colon in a name', { headers: ['Host', 'a', 'X:', 'b'] }],
    ['a line feed in a name', { headers: ['Host', 'a', 'X\r\nY', 'b'] }],
    ['an empty name', { headers: ['Host', 'a', '', 'b'] }],
    ['no host', { headers: [] }],
    ['two hosts', { headers: ['Host', 'a', 'host', 'b'] }],
    ['two lengths', { headers: ['Host', 'a', 'Content-Length', '1', 'content-length', '1'] }],
    ['a length that is none', { headers: ['Host', 'a', 'Content-Length', '1x'] }],
    ['another length than that of its body', { headers: ['Host', 'a', 'Content-Length', '1'], body: 'xx' }],
    ['a line feed in a common value', { common: { X: 'b\r\nY: c' } }],
    ['a length in common', { common: { 'Content-Length': '0' } }],
    ['a transfer coding', { headers: ['Host', 'a', 'transfer-encoding', 'chunked'] }],
    ['connection options', { headers: ['Host', 'a', 'Connection', 'upgrade'] }],
    ['an expectation', { headers: ['Host', 'a', 'Expect', '100-continue'] }],
    ['a time to keep the connection', { headers: ['Host', 'a', 'Keep-Alive', 'timeout=9'] }],
    ['codings of a transfer', { headers: ['Host', 'a', 'TE', 'trailers'] }],
    ['names of trailers', { headers: ['Host', 'a', 'Trailer', 'X'] }],
    ['another protocol', { headers: ['Host', 'a', 'Upgrade', 'h2c'] }],
    ['a host in common', { common: { Host: 'a' } }],
    ['a line feed in a common name', { common: { 'X\r\nY': 'b' } }],
    ['a space in the path', { path: '/x HTTP/1.1' }],
    ['a line feed in the path', { path: '/x\r\n' }],
    ['a path without a slash', { path: 'x' }],
    ['a space in the method', { method: 'GET /' }],
  ])('is refused with %s', (_what, changes) => {
    expect(() => requestHead({ ...request, ...changes })).toThrow(TypeError);
  });
});
