import { describe, expect, it } from 'vitest';
import { useScriptedGate } from './scripted-gate.ts';

// The forms of a request target with their Host header (RFC 9112 section 3.2): the responses, and what is forwarded.
const stand = useScriptedGate();

/** Returns the status, and the request line and Host that the upstream received. */
async function ask(line: string, host: string) {
  const fill = (text: string) => text.replaceAll('ORIGIN', stand.gate.origin).replaceAll('HOST', stand.gate.host);
  const answer = await stand.gate.raw(fill(`${line} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`));
  const seen = stand.upstream
    .take()
    .map(({ method, target, headers }) =>
      [
        method,
        target,
        ...headers.filter(([name]) => /^(x-forwarded-)?host$/i.test(name)).map(([, value]) => value),
      ].join(' '),
    );
  return [
    Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0),
    seen,
    answer.match(/HTTP\/1\.1 \d{3} /g)?.length,
  ] as const;
}

describe.each([
  ['protected', '/public'],
  ['site', '/pages'],
])('a request on the %s lane', (_lane, lane) => {
  const passed = (target: string) => [200, [`GET ${lane}${target} ${stand.gate.host} ${stand.gate.host}`], 1];

  it.each([
    ['the origin-form', `${lane}/x?a=1`, 'Host: HOST\r\n', '/x?a=1'],
    ['the origin-form under another host', `${lane}/x`, 'Host: other.test\r\n', '/x'],
    ['the absolute-form of our origin', `ORIGIN${lane}/x?a=1`, 'Host: HOST\r\n', '/x?a=1'],
    ['the same in capitals', `HTTP://LocalHost:PORT${lane}/x`, 'Host: HOST\r\n', '/x'],
    // The target counts, whatever Host says (RFC 9112 section 3.2.2).
    ['the same under another host', `ORIGIN${lane}/x`, 'Host: evil.test\r\n', '/x'],
  ])('in %s is forwarded in origin-form with the public host', async (_what, target, host, expected) => {
    expect(await ask(`GET ${target.replace('PORT', String(stand.gate.port))}`, host)).toEqual(passed(expected));
  });

  it.each([
    ['another origin', `GET http://evil.test${lane}/x`],
    ['our host over another scheme', `GET https://HOST${lane}/x`],
    ['our host on another port', `GET http://localhost:1${lane}/x`],
    ['our host with a longer name', `GET ORIGIN.evil.test${lane}/x`],
    ['our host with a user before it', `GET http://user@HOST${lane}/x`],
    ['our host as a user', `GET ORIGIN@evil.test${lane}/x`],
    ['an unsupported scheme', `GET ftp://HOST${lane}/x`],
    ['a network path', `GET //HOST${lane}/x`],
    ['an empty host', `GET http://${lane}/x`],
    ['no slash before it', `GET ${lane.slice(1)}/x`],
    ['a fragment', `GET ${lane}/x#y`],
  ])('with %s as its target returns 400 and is not forwarded', async (_what, line) => {
    expect(await ask(line, 'Host: HOST\r\n')).toEqual([400, [], 1]);
  });

  it.each([
    ['two hosts', 'Host: HOST\r\nHost: HOST\r\n'],
    ['two hosts in two cases', 'Host: HOST\r\nhOST: evil.test\r\n'],
    ['a list of hosts', 'Host: HOST, evil.test\r\n'],
    ['no host', ''],
    ['an empty host', 'Host: \r\n'],
    ['a host with a path', 'Host: HOST/x\r\n'],
    ['a host with a user', 'Host: user@HOST\r\n'],
    ['an invalid port', 'Host: localhost:99999\r\n'],
  ])('with %s returns 400 and is not forwarded', async (_what, host) => {
    expect(await ask(`GET ${lane}/x`, host)).toEqual([400, [], 1]);
    // The absolute-form does not make it valid either (RFC 9112 section 3.2).
    expect(await ask(`GET ORIGIN${lane}/x`, host)).toEqual([400, [], 1]);
  });
});

describe('other forms of the request target', () => {
  it.each([
    ['the asterisk-form of another method', 'GET *', 400],
    ['the authority-form of another method', 'GET HOST', 400],
    ['the authority-form of OPTIONS', 'OPTIONS evil.test:443', 400],
  ])('are refused: %s', async (_what, line, status) => {
    expect(await ask(line, 'Host: HOST\r\n')).toEqual([status, [], 1]);
  });

  it('include OPTIONS *, a ping of the server (RFC 9110 section 9.3.7)', async () => {
    expect(await ask('OPTIONS *', 'Host: HOST\r\n')).toEqual([204, [], 1]);
  });

  it.each(['evil.test:443', 'HOST', '/public/x'])('open no tunnel for CONNECT to %s', async (target) => {
    const [status, seen] = await ask(`CONNECT ${target}`, 'Host: HOST\r\n');
    expect(status).toBe(405);
    expect(seen).toEqual([]);
  });
});

it.each([
  ['2,100 fields', 'A:1\r\n'.repeat(2_100)],
  ['16 KiB of fields', `A: ${'x'.repeat(16_384)}\r\n`],
])('a request with %s returns 431 and is not forwarded', async (_what, fields) => {
  for (const lane of ['/public', '/pages'])
    expect(await ask(`GET ${lane}/x`, `Host: HOST\r\n${fields}X-Member-Id: evil\r\n`)).toEqual([431, [], 1]);
});
