import { describe, expect, it } from 'vitest';
import { FREELY, startProxyWorld } from '../support/proxy-world.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

const COUNT = 1_000;

/** Starts a gate with this limit of open requests per address. Returns the responses to 1,000 requests in one packet. */
async function pipelined(open: number, lane: string) {
  const upstream = await startScriptedUpstream();
  upstream.script(({ target }, socket) => {
    const number = target.slice(target.lastIndexOf('/') + 1);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${number.length}\r\n\r\n${number}`);
  });
  const gate = await startProxyWorld({
    upstream: upstream.url,
    config: { limits: { ...FREELY, open: { address: open, member: open } } },
  });
  const all = Array.from({ length: COUNT }, (_, n) => {
    const close = n === COUNT - 1 ? 'Connection: close\r\n' : '';
    return `GET ${lane}/${n} HTTP/1.1\r\nHost: ${gate.host}\r\n${close}\r\n`;
  });
  const text = await gate.raw(all.join(''));
  const answers = text.split(/(?=HTTP\/1\.1 \d\d\d )/).map((answer) => ({
    status: Number(answer.slice(9, 12)),
    body: answer.slice(answer.indexOf('\r\n\r\n') + 4),
  }));
  const seen = upstream.take().length;
  const next = await fetch(`${gate.origin}${lane}/next`);
  expect([next.status, await next.text()]).toEqual([200, 'next']);
  await gate.close();
  await upstream.close();
  return { answers, seen };
}

describe.each(['/public', '/pages'])('B091: a thousand requests in one packet to %s', (lane) => {
  it('are all answered in order', async () => {
    const { answers, seen } = await pipelined(COUNT, lane);
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      Array.from({ length: COUNT }, (_, n) => [200, String(n)]),
    );
    expect(seen).toBe(COUNT);
  });

  it('are refused in order beyond the limit of open requests', async () => {
    const { answers, seen } = await pipelined(100, lane);
    expect(answers).toHaveLength(COUNT);
    expect(seen).toBe(answers.filter(({ status }) => status === 200).length);
    expect(answers.slice(0, 100).map(({ status, body }) => [status, body])).toEqual(
      Array.from({ length: 100 }, (_, n) => [200, String(n)]),
    );
    for (const [n, { status, body }] of answers.entries()) {
      if (status === 200) expect(body).toBe(String(n));
      else expect([status, JSON.parse(body).code]).toEqual([429, 'too_many_requests']);
    }
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });
});
