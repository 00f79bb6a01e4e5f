import fc from 'fast-check';

/** What becomes of bytes on their way: a change at a place, given as a fraction of their length. */
interface Mutation {
  readonly kind: 'insert' | 'delete' | 'repeat' | 'replace' | 'cut';
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

const NASTY = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  '\x0b',
  ':',
  ';',
  ',',
  '%',
  '%00',
  '%2e%2e',
  '../',
  '//',
  '\\',
  '#',
  '?',
  '\xff',
  '\xe2\x80\xae',
  '0',
  '-1',
  'ffffffffffffffff',
  '+2',
  '0x2',
  '__proto__',
  'Transfer-Encoding: chunked\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Trailer: X-Member-Id\r\n',
  'Connection: close, X-Member-Id\r\n',
  'Connection: keep-alive\r\n',
  'X-Member-Id: evil\r\n',
  'X_Member_Id: evil\r\n',
  'Host: evil.test\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: websocket\r\n',
  'Upgrade: h2c\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  'GET /public/hidden HTTP/1.1\r\nHost: HOST\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged',
];

export const nastyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) }),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...NASTY), fc.integer({ min: 2, max: 4000 })).map(([t, n]) => t.repeat(n)),
  },
);

const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('insert', 'delete', 'repeat', 'replace', 'cut'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  text: nastyText,
});

/** Usually few or none: a message that is wrong in every place is refused at the first. */
export const mutations = fc.array(mutation, { maxLength: 3, size: 'max' });

export function mutate(bytes: string, changes: readonly Mutation[]): string {
  let text = bytes;
  for (const { kind, at, length, text: added } of changes) {
    const from = Math.floor(at * text.length);
    const piece = text.slice(from, from + length);
    const after = text.slice(from + length);
    if (kind === 'insert') text = text.slice(0, from) + added + text.slice(from);
    else if (kind === 'delete') text = text.slice(0, from) + after;
    else if (kind === 'repeat') text = text.slice(0, from) + piece + piece + after;
    else if (kind === 'replace') text = text.slice(0, from) + added + after;
    else text = text.slice(0, from);
  }
  return text;
}

/** How bytes go out: in pieces, and what happens to the connection then. */
export interface Delivery {
  readonly cuts: readonly number[];
  readonly ending: 'wait' | 'end' | 'reset';
}

export const delivery: fc.Arbitrary<Delivery> = fc.record({
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  ending: fc.constantFrom('wait', 'wait', 'end', 'reset'),
});

export function pieces(bytes: string, { cuts }: Delivery): string[] {
  const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((place, index) => bytes.slice(places[index], place));
}
