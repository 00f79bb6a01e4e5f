import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { folderWith } from '../config/fixture.ts';
import { runCommand } from '../support/command.ts';
import { answerOk, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';

/** Headers that differ between responses in any environment. */
const CHANGING = ['date', 'x-request-id', 'traceparent', 'content-length'];

/** Sends a request with header names as given, because fetch writes them in lower case. Returns the status. */
function askAsWritten(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: 'localhost', port, path, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    asked.on('error', reject).end();
  });
}

/** Returns the responses of a gate in this environment to the same requests, and what its upstream received. */
async function answersIn(environment: Readonly<Record<string, string>>, port: number) {
  const upstream = await startRecordingUpstream(answerOk);
  onTestFinished(() => upstream.close());
  const folder = await folderWith({});
  const file = join(folder, 'gate.yaml');
  writeFileSync(
    file,
    stringify({
      version: 1,
      profile: 'B',
      origin: `http://localhost:${port}`,
      listen: { port, admin: { port: 0 } },
      store: { kind: 'memory' },
      login: {
        kind: 'session',
        upstream: 'back',
        whoami: { path: '/me' },
        loginUrl: 'http://localhost:1/in',
        cookies: ['s'],
      },
      upstreams: { back: { url: upstream.url } },
      routes: [
        { match: 'GET /public/I/*', upstream: 'back', anonymous: 'serve' },
        { match: 'GET /private/**', upstream: 'back', anonymous: 'refuse', scopes: ['courses:read'] },
      ],
    }),
  );
  const gate = runCommand(['serve', '--config', file], environment);
  onTestFinished(() => {
    gate.signal('SIGKILL');
  });
  await gate.line(/^coursegate ready/);
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`http://localhost:${port}${path}`, { redirect: 'manual', ...init });
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !CHANGING.includes(name)));
    const text = await answer.text();
    return {
      path,
      status: answer.status,
      headers,
      text: text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|"trace_?id":"[^"]*"|[0-9a-f]{32}|[0-9a-f-]{36}/gi, ''),
    };
  };
  const answers = [
    await ask('/.well-known/oauth-authorization-server'),
    await ask('/.well-known/openid-configuration'),
    await ask('/.well-known/oauth-protected-resource'),
    await ask('/openapi.json'),
    await ask('/auth.md'),
    await ask('/private/I', { headers: { AUTHORIZATION: 'BEARER INVALID' } }),
    await ask('/PRIVATE/I'),
    await ask('/private/%49'),
    await ask('/nowhere'),
    await ask('/oauth/authorize?client_id=I', { headers: { 'accept-language': 'TR, EN;q=0.5' } }),
    {
      status: await askAsWritten(port, '/public/I/1', {
        'X-MEMBER-ID': 'evil',
        'X-CLIENT-ID': 'evil',
        'X-MEMBER-EMAIL': 'evil',
      }),
    },
  ];
  const told = upstream.last();
  const identity = ['x-member-id', 'x-client-id', 'x-member-email'].map((name) => told.values(name));
  gate.signal('SIGTERM');
  expect(await gate.exited).toBe(0);
  return { answers, identity };
}

it('the gate responds the same in every time zone and locale, also where the lower case of I is not i', async () => {
  const port = await freePort();
  const plain = await answersIn({ TZ: 'UTC', LANG: 'C', LC_ALL: 'C' }, port);
  const turkish = await answersIn({ TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' }, port);
  expect(turkish).toEqual(plain);
  expect(plain.identity).toEqual([[], [], []]);
  expect(plain.answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 401, 404, 401, 404, 400, 200]);
});
