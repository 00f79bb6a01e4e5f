import { describe, expect, it } from 'vitest';
import { SMUGGLED } from '../support/smuggling.ts';
import { useScriptedGate } from './scripted-gate.ts';

const stand = useScriptedGate();

const fill = (text: string, lane: string) => text.replaceAll('HOST', stand.gate.host).replaceAll('LANE', lane);

describe.each([
  ['protected', '/public'],
  ['site', '/pages'],
])('on the %s lane', (_lane, lane) => {
  const next = `GET ${lane}/next HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n`;

  it.each(SMUGGLED.map((one) => [one.check, one.what, one] as const))(
    '%s: %s is refused and ends the connection, or is exactly one request',
    async (_check, _what, { bytes, gate: expected }) => {
      const answer = await stand.gate.raw(fill(bytes + next, lane));
      const taken = stand.upstream.take();
      const seen = taken.map(({ method, target, body }) => [method, target, body]);
      expect(taken.flatMap(({ headers }) => headers.filter((field) => field.join().includes('evil')))).toEqual([]);
      if (expected === 'refused') {
        expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
        // One response, and none to the bytes that follow.
        expect(answer.match(/HTTP\/1\.1 \d\d\d /g)).toHaveLength(1);
        expect(seen).toEqual([]);
      } else {
        const method = bytes.slice(0, bytes.indexOf(' '));
        const both = [
          [method, `${lane}/x`, expected.body],
          ['GET', `${lane}/next`, ''],
        ];
        expect(seen.toSorted()).toEqual((expected.then === 'next' ? both : both.slice(0, 1)).toSorted());
        expect(answer.match(/HTTP\/1\.1 200 OK\r\n/g)).toHaveLength(seen.length);
      }
    },
  );
});

it('ambiguous framing is refused at the gate’s own endpoints too', async () => {
  const form = 'grant_type=x';
  for (const [path, type] of [
    ['/api/oauth/token', 'application/x-www-form-urlencoded'],
    ['/api/oauth/register', 'application/json'],
  ]) {
    for (const fields of ['Transfer-Encoding: gzip, chunked', `Content-Length: ${form.length}\r\nHost: b`]) {
      const answer = await stand.gate.raw(
        `POST ${path} HTTP/1.1\r\nHost: ${stand.gate.host}\r\nContent-Type: ${type}\r\n${fields}\r\n\r\n${form}`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\nconnection: close\r\n/i);
    }
  }
});

it('a hundred pipelined requests are each answered once, in order, with the identity of each', async () => {
  stand.upstream.script(({ headers, target }, socket) => {
    const member = headers.find(([name]) => name.toLowerCase() === 'x-member-id')?.[1] ?? 'nobody';
    const body = `${target} ${member};`;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  const asMember = (n: number) => n % 3 === 0;
  const all = Array.from({ length: 100 }, (_, n) => {
    const authorization = asMember(n) ? `Authorization: Bearer ${stand.gate.token}\r\n` : '';
    const close = n === 99 ? 'Connection: close\r\n' : '';
    return `GET /public/${n} HTTP/1.1\r\nHost: ${stand.gate.host}\r\n${authorization}${close}\r\n`;
  });
  const answer = await stand.gate.raw(all.join(''));
  const bodies = [...answer.matchAll(/\/public\/\d+ [a-z0-9-]+;/g)].map(([body]) => body);
  expect(bodies).toEqual(all.map((_, n) => `/public/${n} ${asMember(n) ? 'm-1' : 'nobody'};`));
  stand.upstream.take();
});
