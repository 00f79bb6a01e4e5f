/** A response as an upstream sends it: in pieces, and what becomes of the connection then. */
export interface HostileAnswer {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly pieces: readonly string[];
  readonly ending: 'stay' | 'end' | 'reset';
}

type Random = () => number;

/** Mulberry32: the same numbers for the same seed. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const LINES = [
  ...Array<string>(12).fill('HTTP/1.1 200 OK'),
  'HTTP/1.1 200',
  'HTTP/1.1 200 ',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 Not Modified',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 199 X\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK',
  'HTTP/1.1 999 Odd',
  'HTTP/1.1 099 Odd',
  'HTTP/2.0 200 OK',
  'HTTP/1.1 200 O\x01K',
];
const FIELDS = [
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Close, x',
  'Connection: keep-alive, close',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c',
  'Keep-Alive: timeout=5',
  'Keep-Alive: timeout=1, max=3',
  'Content-Type: text/event-stream',
  'Content-Encoding: gzip',
  'Trailer: X-T',
  'X: y',
  'X:y',
  'X:',
  'X: \t y z \t ',
  'X: \xe4\xf6',
  'Set-Cookie: a=b\r\nSet-Cookie: c=d',
  '__proto__: x',
  'Proxy-Connection: keep-alive',
];
const chunks = (...parts: readonly string[]) =>
  `Transfer-Encoding: chunked\r\n\r\n${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}`;
const BODIES = [
  'Content-Length: 5\r\n\r\nhello',
  'Content-Length: 5\r\n\r\nhello',
  'Content-Length: 0\r\n\r\n',
  'Content-Length: 005\r\n\r\nhello',
  `Content-Length: 3000\r\n\r\n${'h'.repeat(3000)}`,
  `${chunks('hello')}0\r\n\r\n`,
  `${chunks('hello', ' ', 'world')}0\r\n\r\n`,
  `${chunks('hello')}0\r\nX-T: y\r\n\r\n`,
  `${chunks('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')}0\r\n\r\n`,
  'transfer-encoding:CHUNKED\r\n\r\n5;a=b\r\nhello\r\n0;c="d"\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n',
  `Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(17_000)}\r\nhello\r\n0\r\n\r\n`,
  'Transfer-Encoding: chunked\r\n\r\n5;a=b;c="d\\"e;";f\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked\r\n\r\n5 ; a = b\r\nhello\r\n0\r\n\r\n',
  `${chunks('hello')}0\r\n${'X-T: y\r\n'.repeat(3_000)}\r\n`,
  `${chunks('hello')}0\r\nContent-Length: 5\r\n\r\n`,
  chunks('hello'),
  'Transfer-Encoding: chunked\r\n\r\nA\r\nhello',
  '\r\n',
  '\r\nhello',
  'Content-Length: 9\r\n\r\nhello',
  'Content-Length: 3\r\n\r\nhello',
  'Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello',
  'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  'Content-Length: 5, 5\r\n\r\nhello',
  `Content-Length: 5\r\n${chunks('hello')}0\r\n\r\n`,
  `${chunks('hello').replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\n')}0\r\n\r\n`,
  'Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'Transfer-Encoding: identity\r\n\r\nhello',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  `Content-Length: 5\r\n\r\nhello${'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'}`,
  `${chunks('hello')}0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged`,
];
const NASTY = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\n\n',
  '\0',
  '\x01',
  '\x7f',
  '\x0b',
  ' ',
  '\t',
  '\r\n ',
  '\r\n\t',
  ':',
  ';',
  ',',
  '"',
  '\xff',
  '0',
  '1',
  'f',
  '-1',
  '+2',
  '0x2',
  ' 5',
  'ffffffffffffffff',
  '00000000000000000000',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'content-length:7\r\n',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  ';x=y',
  ';x="\r\n"',
  'X: y\r\n',
  'HTTP/1.1 ',
  'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged',
  `X: ${'y'.repeat(16_400)}\r\n`,
  'A:b\r\n'.repeat(4_000),
];

/** A valid response or one of the usual wrong ones, changed in a few places or none, and cut into pieces. */
export function hostileAnswer(next: Random): HostileAnswer {
  const one = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const fields = Array.from({ length: Math.floor(next() * 3) }, () => `${one(FIELDS)}\r\n`).join('');
  let text = `${one(LINES)}\r\n${fields}${one(BODIES)}`;
  for (let changes = Math.max(0, Math.floor(next() * 4) - 1); changes > 0; changes -= 1) {
    const at = Math.floor(next() * (text.length + 1));
    const length = 1 + Math.floor(next() * (next() < 0.5 ? 3 : 40));
    const [before, piece, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
    text = one([
      () => before + one(NASTY) + piece + after,
      () => before + one(NASTY) + after,
      () => before + after,
      () => before + piece + piece + after,
      () => before + String.fromCharCode(Math.floor(next() * 256)) + piece.slice(1) + after,
      () => before,
    ])();
  }
  return {
    method: one(['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST']),
    pieces: cut(text, next),
    ending: one(['stay', 'stay', 'stay', 'end', 'end', 'reset']),
  };
}

function cut(text: string, next: Random): string[] {
  const kind = next();
  if (kind < 0.5) return [text];
  // At every byte, where that is not too many.
  if (kind < 0.6 && text.length < 120) return text.split('');
  const places = Array.from({ length: 1 + Math.floor(next() * 4) }, () => Math.floor(next() * text.length));
  const all = [0, ...places.toSorted((a, b) => a - b), text.length];
  return all.slice(1).map((place, index) => text.slice(all[index], place));
}
