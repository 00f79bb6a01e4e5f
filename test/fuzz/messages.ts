import fc from 'fast-check';
import { type Delivery, delivery, mutate, mutations, nastyText } from './bytes.ts';

/** What one side sends; HOST and TOKEN stand for the gate's. */
export interface Sent {
  readonly bytes: string;
  readonly delivery: Delivery;
}

const METHODS = [
  'GET',
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'TRACE',
  'CONNECT',
  'PURGE',
  'get',
  'M-SEARCH',
];
const PATHS = [
  '/public/x',
  '/public/x?a=b',
  '/member/x',
  '/reading/x',
  '/',
  '/site',
  '/oauth/authorize?client_id=x&response_type=code',
  '/api/oauth/token',
  '/api/oauth/register',
  '/api/oauth/introspect',
  '/.well-known/openid-configuration',
  'http://HOST/public/x',
  'http://evil.test/public/x',
  '*',
];
const STEPS = [
  '/',
  '//',
  '/.',
  '/..',
  '%2e',
  '%2f',
  '%5c',
  ';',
  '%00',
  '\\',
  'admin',
  'MEMBER',
  '%C3%A9',
  '%ff',
  '?',
  '#',
  '.',
];

const target = fc
  .tuple(fc.constantFrom(...PATHS), fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }))
  .map(([path, steps]) => path + steps.join(''));

const REQUEST_FIELDS = [
  'Authorization: Bearer TOKEN',
  'Authorization: Bearer wrong',
  'Authorization: Basic eDp5',
  'X-Member-Id: evil',
  'X_Member_Id: evil',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: x-member-id, host, content-length',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Trailer: X-Member-Id',
  'TE: trailers',
  'Expect: 100-continue',
  'Expect: something',
  'Cookie: a=b; __Host-coursegate=x; school=signed-in',
  'X-Forwarded-For: 10.0.0.1',
  'X-Request-Id: evil',
  'Content-Type: application/json',
  'Content-Type: application/x-www-form-urlencoded',
  'Content-Encoding: gzip',
  'Range: bytes=0-1,2-3',
  'Accept: text/html',
  '__proto__: x',
  'constructor: x',
];

/** Bodies with their framing, right and wrong. */
const REQUEST_BODIES = [
  '\r\n',
  '\r\n',
  'Content-Length: 5\r\n\r\nhello',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-Member-Id: evil\r\n\r\n',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'Content-Length: 100\r\n\r\nhello',
  'Content-Length: 44\r\n\r\nGET /public/hidden HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'Content-Length: 2\r\n\r\n{}',
];

const request = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...METHODS) }, { weight: 1, arbitrary: nastyText }),
    target,
    fc.constantFrom('1.1', '1.1', '1.1', '1.1', '1.0', '2.0', '0.9', '9.9'),
    fc.constantFrom(
      'Host: HOST\r\n',
      'Host: HOST\r\n',
      'Host: HOST\r\n',
      '',
      'Host: a/b\r\n',
      'Host: a\r\nHost: b\r\n',
    ),
    fc.array(fc.constantFrom(...REQUEST_FIELDS), { maxLength: 4 }),
    fc.constantFrom(...REQUEST_BODIES),
  )
  .map(
    ([method, path, version, host, fields, body]) =>
      `${method} ${path} HTTP/${version}\r\n${host}${fields.map((field) => `${field}\r\n`).join('')}${body}`,
  );

/** One to three requests on a connection, mostly near to what is allowed. */
export const requests: fc.Arbitrary<Sent> = fc
  .tuple(fc.array(request, { minLength: 1, maxLength: 3 }), mutations, delivery)
  .map(([all, changes, how]) => ({ bytes: mutate(all.join(''), changes), delivery: how }));

const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 302 Found',
  'HTTP/1.1 401 Unauthorized',
  'HTTP/1.1 500 Oops',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 099 No',
  'HTTP/1.1 999 No',
  'HTTP/1.1 200 O\x01K',
  'HTTP/2.0 200 OK',
];
const ANSWER_FIELDS = [
  'Trailer: X-Member-Id',
  'Connection: close',
  'Connection: keep-alive',
  'Connection: content-length, content-type',
  'Content-Type: text/event-stream',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Location: http://127.0.0.1/x',
  'Location: http://[',
  'Set-Cookie: __Host-coursegate=evil',
  'Set-Cookie: a=b\r\nSet-Cookie: c=d',
  'X-Member-Id: evil',
  'WWW-Authenticate: Basic',
  'Cache-Control: public, max-age=60',
  'Upgrade: websocket',
  'Keep-Alive: timeout=1',
  '__proto__: x',
];
const ANSWER_BODIES = [
  'Content-Length: 5\r\n\r\nhello',
  'Content-Length: 5\r\n\r\nhello',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nagain\r\n0\r\nX-T: y\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n',
  'Content-Length: 100\r\n\r\nhello',
  'Content-Length: 2\r\n\r\nhello',
  'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'Transfer-Encoding: xchunked\r\n\r\nhello',
  'Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged',
  '\r\nhello',
  '\r\n',
];

const answer = fc
  .tuple(
    fc.constantFrom(...STATUS_LINES),
    fc.array(fc.constantFrom(...ANSWER_FIELDS), { maxLength: 3 }),
    fc.constantFrom(...ANSWER_BODIES),
  )
  .map(([line, fields, body]) => `${line}\r\n${fields.map((field) => `${field}\r\n`).join('')}${body}`);

/** An upstream's answer. */
export const answers: fc.Arbitrary<Sent> = fc
  .tuple(answer, mutations, delivery)
  .map(([one, changes, how]) => ({ bytes: mutate(one, changes), delivery: how }));
