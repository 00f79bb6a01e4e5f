import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

// Frameworks let a parameter override the method: such a request must not reach a backend through a route for POST.
let upstream: RecordingUpstream;
let gate: TestGate;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url);
});
beforeEach(() => upstream.script(answerOk));
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

const LATIN1 = (text: string) => Buffer.from(text).toString('latin1');

/** Returns the status and code of the response, and the complete requests that the upstream received. */
async function send(target: string, fields: readonly string[] = [], body?: string, method = 'POST') {
  const before = upstream.requests.length;
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const head = [`${method} ${target} HTTP/1.1`, 'Host: gate.test', 'Connection: close', ...fields, ...length];
  const answer = await gate.raw(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
  const seen = await Promise.all(
    upstream.requests.slice(before).map((request) =>
      request.whole.then(
        () => [request.target, request.body.toString('latin1')],
        () => 'broken off',
      ),
    ),
  );
  const [, code] = /"code":"(\w+)"/.exec(answer) ?? [];
  return { status: Number(answer.slice(9, 12)), code, seen, answer };
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';
const JSON_TYPE = 'Content-Type: application/json';
const MULTIPART = 'Content-Type: multipart/form-data; boundary=XX';
const part = (disposition: string, value = 'DELETE') => `--XX\r\n${disposition}\r\n\r\n${value}\r\n--XX--\r\n`;

const NAMES = [
  ...['_method', '_METHOD', '_Method', '%5Fmethod', '%5fm%65thod', '_metho%64', '_method%5B%5D', '_method[]'],
  ...['_method[0]', '_method[a][b]', '[_method]', '%5B_method%5D', '.method', '+_method', '++++_method', '%20_method'],
  ...['_method%00', '_method%00x', '%255Fmethod', '%25255fmethod', '%u005Fmethod', '__method', '_method_', '$method'],
  ...['%EF%BC%BFmethod', '_%EF%BD%8Dethod', '%E2%80%8B_method', '_%C2%ADmethod', '_HttpMethod', '_http_method'],
  ...['X-HTTP-Method-Override', 'x-http-method-override', 'X_HTTP_METHOD_OVERRIDE', 'X-HTTP-Method'],
  ...['X-Method-Override', 'http_method_override', 'method-override', 'x-tunneled-method', '%zz_method'].slice(0, 4),
  ...[
    'a=1&_method',
    'a=1;_method',
    '_method=POST&_method',
    `${'+'.repeat(3000)}_method`,
    `${'%20'.repeat(1500)}_method`,
  ],
];

describe('a method override', () => {
  it.each(NAMES)('as %s is refused in a query', async (name) => {
    for (const method of ['POST', 'GET', 'PUT']) {
      const { status, code, seen } = await send(`/api/x?${name}=DELETE`, [], undefined, method);
      expect([status, code, seen]).toEqual([400, 'method_override', []]);
    }
  });

  it.each(NAMES)('as %s is refused in a form, with its length or chunked', async (name) => {
    const form = `${name}=DELETE`;
    const chunked = `${form.length.toString(16)}\r\n${form}\r\n0\r\n\r\n`;
    for (const type of [[FORM], [`${FORM.toUpperCase()}; charset="UTF-8"`], []]) {
      const { status, code, seen } = await send('/api/x', type, form);
      expect([status, code, seen]).toEqual([400, 'method_override', []]);
    }
    const head = `POST /api/x HTTP/1.1\r\nHost: gate.test\r\nConnection: close\r\n${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const before = upstream.requests.length;
    expect(await gate.raw(head + chunked)).toContain('"code":"method_override"');
    for (const request of upstream.requests.slice(before)) await expect(request.whole).rejects.toThrow();
  });

  it.each([
    ['hidden by an encoded &', 'a%26_method%3DDELETE=1'],
    ['hidden in a value by an encoded &', 'a=1%26_method%3DDELETE'],
    ['hidden in a value, encoded twice', 'a=1%2526_method%253DDELETE'],
    ['without a value', '_method'],
    ['with an empty value', '_method='],
    ['with a value that is not a method', '_method=DEL%00ETE'],
    ['in small letters', '_method=delete'],
    ['with an unknown method', '_method=FROB'],
  ])('%s is refused in a query', async (_title, query) => {
    const { status, code, seen } = await send(`/api/x?${query}`);
    expect([status, code, seen]).toEqual([400, 'method_override', []]);
  });

  it.each([
    ['{"_method":"DELETE"}'],
    ['{"a":1,"_method":"DELETE"}'],
    ['{"_method":"DELETE","_method":"POST"}'],
    ['{"_method":"POST","_method":"DELETE"}'],
    ['{"\\u005fmethod":"DELETE"}'],
    ['{"\\u005F\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064":"\\u0044ELETE"}'],
    ['{"_METHOD":"delete"}'],
    ['{ "_method" \n:\t"DELETE" }'],
    ['\u00ef\u00bb\u00bf{"_method":"DELETE"}'],
    ['{"_method":null}'],
    ['{"_method":["DELETE"]}'],
    ['{"_method":{"a":"DELETE"}}'],
    ['{"a":{"b":[1,2,{"c":"}"}]},"_method":"DELETE"}'],
    ['{"a":"\\"","_method":"DELETE"}'],
    ['{"a":"\\\\","_method":"DELETE"}'],
    ['{"X-HTTP-Method-Override":"DELETE"}'],
    ['{"_method[]":"DELETE"}'],
    ['{"a":1}\n{"_method":"DELETE"}'],
    [`{"${'_'.repeat(2000)}method":"DELETE"}`],
    [LATIN1('{"＿method":"DELETE"}')],
  ])('in JSON %s is refused', async (body) => {
    for (const type of [
      JSON_TYPE,
      'Content-Type: application/vnd.api+json',
      'content-type: Application/JSON; charset=utf-8',
      'Content-Type: text/plain; a=/json',
      'Content-Type: text/x-json',
    ]) {
      const { status, code, seen } = await send('/api/x', [type], body);
      expect([status, code, seen]).toEqual([400, 'method_override', []]);
    }
  });

  it.each([
    ['Content-Disposition: form-data; name="_method"'],
    ['Content-Disposition: form-data; name=_method'],
    ["Content-Disposition: form-data; name='_method'"],
    ['content-disposition:form-data;name="_method"'],
    ['CONTENT-DISPOSITION: FORM-DATA; NAME="_method"'],
    ['Content-Disposition: form-data; name="_method"; filename="x.txt"'],
    ['Content-Disposition: form-data; filename="x.txt"; name="_method"'],
    ['Content-Disposition: form-data; name="\\_method"'],
    ['Content-Disposition: form-data; name="_met\\hod"'],
    ['Content-Disposition: form-data; name="%5Fmethod"'],
    ['Content-Disposition: form-data; name="_method[]"'],
    ['Content-Disposition: form-data; name="[_method]"'],
    ['Content-Disposition: form-data; name=" _method"'],
    ['Content-Disposition: form-data; name="_method"\r\nContent-Type: text/plain; charset=utf-16'],
    ['Content-Disposition: form-data; name="_method"\r\nContent-Transfer-Encoding: base64'],
    ['Content-Disposition: form-data; name=""; filename="_method"'],
    ['Content-Disposition: form-data; name=""\r\nContent-ID: _method'],
  ])('in a part with %j is refused', async (head) => {
    const file = '--XX\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\0\x01--X\r\n--Y\r\n';
    for (const body of [part(head), file + part(head)]) {
      const { status, code, seen } = await send('/api/x', [MULTIPART], body);
      expect([status, code, seen]).toEqual([400, 'method_override', []]);
    }
  });

  it('in a part named by its Content-ID is refused', async () => {
    const body = part('Content-ID: <_method>');
    const { status, code } = await send('/api/x', ['Content-Type: multipart/related; boundary=XX'], body);
    expect([status, code]).toEqual([400, 'method_override']);
  });
});

describe('a body that two servers could read differently is refused:', () => {
  it.each([
    ['a folded field', MULTIPART, part('Content-Disposition: form-data;\r\n name="_method"')],
    ['a bare line feed', MULTIPART, part('Content-Disposition: form-data; name="a"\nX: y')],
    ['a bare carriage return', MULTIPART, part('Content-Disposition: form-data; name="a"\rX: y')],
    ['two names', MULTIPART, part('Content-Disposition: form-data; name="a"; name="_method"')],
    ['name*', MULTIPART, part("Content-Disposition: form-data; name=a; name*=utf-8''_method")],
    ['name*0', MULTIPART, part('Content-Disposition: form-data; name*0="_met"; name*1="hod"')],
    ['text behind a quoted name', MULTIPART, part('Content-Disposition: form-data; name="a"_method')],
    ['a name in a file name', MULTIPART, part('Content-Disposition: form-data; name="a"; filename="; name=_method"')],
    ['an encoded word', MULTIPART, part('Content-Disposition: form-data; name="=?utf-8?q?_method?="')],
    ['no name', MULTIPART, part('X-Other: y')],
    [
      'two dispositions',
      MULTIPART,
      part('Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="_method"'),
    ],
    ['UTF-16', MULTIPART, part('C\0o\0n\0t\0e\0n\0t\0')],
    ['a space before the colon', MULTIPART, part('Content-Disposition : form-data; name="_method"')],
    ['text before it', MULTIPART, `x\r\n${part('Content-Disposition: form-data; name="a"')}`],
    ['text after it', MULTIPART, `${part('Content-Disposition: form-data; name="a"')}--XX\r\n`],
    ['a boundary inside a line', MULTIPART, part('Content-Disposition: form-data; name="a"', 'b--XX\r\nX')],
    ['a boundary after a line feed', MULTIPART, part('Content-Disposition: form-data; name="a"', 'b\n--XX\r\nX')],
    ['no end', MULTIPART, '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'],
    ['an empty part', MULTIPART, '--XX\r\nContent-Disposition: form-data; name="a"\r\n--XX--\r\n'],
    ['no part', MULTIPART, ''.padEnd(50, 'x')],
    ['no boundary', 'Content-Type: multipart/form-data', '_method=DELETE'],
    [
      'two boundaries',
      'Content-Type: multipart/form-data; boundary=XX; boundary=YY',
      part('Content-Disposition: form-data; name="a"'),
    ],
    ['a boundary with a comma', 'Content-Type: multipart/form-data; boundary="XX,YY"', 'x'],
    ['two types in one', 'Content-Type: multipart/form-data; boundary=a/json', '{}'],
    ['a list of types', 'Content-Type: application/x-www-form-urlencoded, text/plain', '_method=DELETE'],
    ['a broken type', 'Content-Type: application/x-www-form-urlencoded text', '_method=DELETE'],
    ['UTF-16 by its charset', `${FORM}; charset=utf-16`, 'a=b'],
    ['EBCDIC by its charset', `${FORM}; charset=ibm037`, 'a=b'],
    ['UTF-7 by its charset', `${JSON_TYPE}; charset=utf-7`, '{}'],
    ['JSON in UTF-16', JSON_TYPE, '{\0"\0a\0"\0:\x001\0}\0'],
    ['JSON with a comment', JSON_TYPE, '{/*"*/"_method":"DELETE"/*"*/}'],
    ['JSON with single quotes', JSON_TYPE, "{'_method':'DELETE'}"],
    ['JSON with bare names', JSON_TYPE, '{_method:"DELETE"}'],
    ['JSON with a line feed in a string', JSON_TYPE, '{"a":"\n"}'],
    ['JSON with a prototype', JSON_TYPE, '{"__proto__":{"_method":"DELETE"}}'],
    ['truncated JSON', JSON_TYPE, '{"a":1'],
    ['JSON with brackets that do not match', JSON_TYPE, '{"a":[1}]'],
    ['JSON that is nested too deeply', JSON_TYPE, '['.repeat(20_000) + ']'.repeat(20_000)],
    ['JSON with a name that is not UTF-8', JSON_TYPE, '{"\xff_method":"DELETE"}'],
  ])('%s', async (_title, type, body) => {
    const { status, code, seen } = await send('/api/x', [type], body);
    expect([status, code, seen]).toEqual([400, 'invalid_request', []]);
  });

  it('two content types', async () => {
    const { status, code, seen } = await send('/api/x', ['Content-Type: text/plain', FORM], '_method=DELETE');
    expect([status, code, seen]).toEqual([400, 'invalid_request', []]);
  });

  it.each([FORM, JSON_TYPE, MULTIPART])('%s, compressed', async (type) => {
    const { status, code, seen } = await send('/api/x', [type, 'Content-Encoding: gzip'], '\x1f\x8b');
    expect([status, code, seen]).toEqual([415, 'unsupported_media_type', []]);
  });
});

describe('an ordinary request passes byte for byte:', () => {
  const FILE =
    '--XX\r\nContent-Disposition: form-data; name="method"\r\n\r\nDELETE\r\n' +
    '--XX\r\nContent-Disposition: form-data; name="payment_method"\r\n\r\ncard\r\n' +
    '--XX\r\nContent-Disposition: form-data; name="f"; filename="_method=DELETE.html"\r\nContent-Type: text/html\r\n\r\n' +
    '<input name="_method" value="DELETE">\r\n--X\r\n&_method=DELETE\r\n--XX--\r\n';
  it.each([
    ['a form', FORM, 'method=DELETE&payment_method=card&http_method=x&user[_method]=a&q=_method&my_method=1'],
    ['a form without a type', 'X-Requested-With: x', 'method=DELETE&payment_method=card'],
    [
      'JSON',
      JSON_TYPE,
      '{"jsonrpc":"2.0","method":"tools/call","params":{"_method":"x"},"a":"_method","b":["_method"]}',
    ],
    ['JSON that is a list', JSON_TYPE, '[{"_method":"DELETE"}]'],
    ['JSON that is a string', JSON_TYPE, '"_method"'],
    ['NDJSON', 'Content-Type: application/x-ndjson', '{"a":1}\n{"b":-1.5e9}\n'],
    ['a file', 'Content-Type: application/octet-stream', '&_method=DELETE&'],
    ['text', 'Content-Type: text/plain; charset=utf-16', '_method=DELETE'],
    ['a compressed file', 'Content-Type: application/gzip\r\nContent-Encoding: gzip', '\x1f\x8b_method'],
    ['parts', MULTIPART, FILE],
    [
      'parts with an unquoted boundary of signs',
      "Content-Type: multipart/form-data; boundary=-_=.'()+:?/",
      FILE.replaceAll('--XX', "---_=.'()+:?/"),
    ],
    [
      'parts without names',
      'Content-Type: multipart/related; boundary="XX"; type="text/plain"',
      part('Content-Type: text/plain'),
    ],
    ['the same method', FORM, '_method=post'],
    ['a form that is declared as not compressed', `${FORM}\r\nContent-Encoding: identity`, 'a=1'],
  ])('%s', async (_title, type, body) => {
    const { status, seen } = await send('/api/x', [type], body);
    expect([status, seen]).toEqual([200, [['/api/x', body]]]);
  });

  it.each(['?method=DELETE', '?filter[_x]=1&filter%5Bx%5D=2&payment_method=1&q=_method', '?q=R%26D&next=%2Fa%3Fb%3Dc'])(
    'the query %s',
    async (query) => {
      const { status, seen } = await send(`/api/x${query}`, [], undefined, 'GET');
      expect([status, seen]).toEqual([200, [[`/api/x${query}`, '']]]);
    },
  );

  it('bodies of any size, cut anywhere', async () => {
    const big = FILE.replace('<input', `${'<p>--XX-no</p>'.replace('--XX', '--XY').repeat(20_000)}<input`);
    for (const [type, body] of [
      [MULTIPART, big],
      [FORM, `a=${'x'.repeat(200_000)}&b=${'%20'.repeat(50_000)}`],
      [JSON_TYPE, JSON.stringify({ a: 'é"\\'.repeat(40_000), b: [1, null, true, -2e3] })],
    ] as const) {
      const bytes = LATIN1(body);
      const { status, seen } = await send('/api/x', [type], bytes);
      expect(status).toBe(200);
      expect((seen as string[][])[0]?.[1] === bytes).toBe(true);
    }
  });

  it.each(['/open/x', '/api/x'])('without the override headers, which are dropped on %s', async (path) => {
    const names = [
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
      'X_HTTP_Method_Override',
      'x.http.method',
    ];
    const before = upstream.requests.length;
    const { status } = await send(
      path,
      names.map((name) => `${name}: DELETE`),
    );
    expect([status, upstream.requests.length - before]).toEqual([200, 1]);
    expect(upstream.last().rawHeaders.join('\n')).not.toMatch(/DELETE/);
  });
});

describe('an override behind a large upload', () => {
  const FILLER = 'x'.repeat(300_000);
  it.each([
    ['a form', FORM, `a=${FILLER}&_method=DELETE`],
    ['a form that ends with its name', FORM, `a=${FILLER}&_method`],
    ['JSON', JSON_TYPE, `{"a":"${FILLER}","_method":"DELETE"}`],
    [
      'parts',
      MULTIPART,
      `--XX\r\nContent-Disposition: form-data; name="f"; filename="g"\r\n\r\n${FILLER}\r\n${part('Content-Disposition: form-data; name="_method"')}`,
    ],
    [
      'parts without an end',
      MULTIPART,
      `--XX\r\nContent-Disposition: form-data; name="f"; filename="g"\r\n\r\n${FILLER}`,
    ],
  ])('in %s never completes at the upstream', async (_title, type, body) => {
    const { status, seen } = await send('/api/x', [type], body);
    expect([status, seen]).toEqual([400, ['broken off']]);
    expect(upstream.last().body.toString()).not.toMatch(/_method["=\r]/);
  });

  it('is found wherever the body is split', async () => {
    const bodies = [
      [FORM, 'a=1&%5Fmethod=DELETE'],
      [JSON_TYPE, '{"a":"b","\\u005fmethod" : "DELETE"}'],
      [MULTIPART, part('Content-Disposition: form-data; name="_method"')],
    ] as const;
    for (const [type, body] of bodies) {
      const before = upstream.requests.length;
      const socket = gate.socket();
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.write(`POST /api/x HTTP/1.1\r\nHost: gate.test\r\n${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (const character of body) socket.write(`1\r\n${character}\r\n`);
      socket.write('0\r\n\r\n');
      await new Promise((resolve) => socket.once('close', resolve));
      expect(received).toContain('"code":"method_override"');
      for (const request of upstream.requests.slice(before)) {
        await expect(request.whole).rejects.toThrow();
        expect(request.body.toString()).not.toContain('DELETE');
      }
    }
  });
});
