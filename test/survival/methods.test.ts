import { describe, expect, it } from 'vitest';
import { valuesOf } from '../support/strict-http.ts';
import { useScriptedGate } from './scripted-gate.ts';

const stand = useScriptedGate();

const send = (method: string, path: string, fields = '', body = '') =>
  stand.gate.raw(
    `${method} ${path} HTTP/1.1\r\nHost: ${stand.gate.host}\r\nAuthorization: Bearer ${stand.gate.token}\r\n${fields}Connection: close\r\n\r\n${body}`,
  );

describe.each(['/member/x', '/public/x', '/pages/x'])('a request to %s', (path) => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'PURGE', 'PROPFIND', 'QUERY', 'REPORT', 'LINK'])(
    'by %s is forwarded as it came',
    async (method) => {
      expect((await send(method, path)).slice(9, 12)).toBe('200');
      expect(stand.upstream.take().map((request) => [request.method, request.target])).toEqual([[method, path]]);
    },
  );

  it.each([
    ['TRACE', '405'],
    ['CONNECT', '405'],
    ['TRACK', '400'],
    ['DEBUG', '400'],
    ['get', '400'],
    ['GeT', '400'],
    ['FOO', '400'],
    ['', '400'],
    ['GETX', '400'],
    ['A'.repeat(1_024), '400'],
    ['GET\t', '400'],
    ['\0GET', '400'],
  ])('B066, B067: by %j is refused with %s and never forwarded', async (method, status) => {
    expect((await send(method, path)).slice(9, 12)).toBe(status);
    expect(stand.upstream.take()).toEqual([]);
  });

  it.each(['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method', 'X_HTTP_Method_Override', 'x-http-method'])(
    'B065: is forwarded without %s',
    async (name) => {
      expect((await send('GET', path, `${name}: DELETE\r\n`)).slice(9, 12)).toBe('200');
      const [seen] = stand.upstream.take();
      expect(seen?.method).toBe('GET');
      expect(seen?.headers.map(([field]) => field.toLowerCase()).filter((field) => field.includes('method'))).toEqual(
        [],
      );
    },
  );
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE', 'PROPFIND', 'QUERY', 'MKCOL', 'LOCK', 'OPTIONS'])(
  'B068: %s on a read-only route returns 405, whatever override it contains',
  async (method) => {
    for (const fields of ['', 'X-HTTP-Method-Override: GET\r\n']) {
      const answer = await send(method, '/reading/x?_method=GET', fields);
      expect(answer.slice(9, 12)).toBe('405');
      expect(answer).toMatch(/\r\nallow: GET, HEAD\r\n/i);
      expect(stand.upstream.take()).toEqual([]);
    }
  },
);

it('B065: a parameter named _method does not change the method at a backend', async () => {
  const form = '_method=DELETE';
  const type = 'Content-Type: application/x-www-form-urlencoded\r\n';
  const fields = `${type}Content-Length: ${form.length}\r\n`;
  expect((await send('GET', '/reading/x?_method=DELETE')).slice(9, 12)).toBe('400');
  expect((await send('POST', '/reading/x', fields, form)).slice(9, 12)).toBe('405');
  expect(stand.upstream.take()).toEqual([]);
  // A route for all methods allows DELETE as well.
  expect((await send('POST', '/member/x', fields, form)).slice(9, 12)).toBe('200');
  const seen = stand.upstream.take();
  expect(seen.map(({ method, target }) => [method, target])).toEqual([['POST', '/member/x']]);
  expect(valuesOf(seen[0]?.headers ?? [], 'x-member-id')).toEqual(['m-1']);
});
