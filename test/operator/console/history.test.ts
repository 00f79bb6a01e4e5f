import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIT_ACTIONS } from '../../../src/operations/audit.ts';
import { readTexts } from '../../../src/operator/texts.ts';
import { bearer, registerApp } from '../../support/app.ts';
import { approved, connect, token } from '../../support/connection.ts';
import { OLU, SAM } from '../../support/member.ts';
import type { World } from '../../support/world.ts';
import { type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;
const ZONE = { timeZone: 'Asia/Kolkata' };
const HMAC = { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } }, ...ZONE };
// 10:33 in Kolkata.
let now = Date.UTC(2026, 10, 24, 5, 3, 11);

let world: World;
let session: ConsoleSession;
const pass = async (minutes: number) => {
  for (let at = 0; at < minutes; at += 1) {
    now += MINUTE;
    await session.get('/console/traffic');
  }
};

/** The text of each minute and line of the page, newest first. */
const history = async (query = ''): Promise<readonly string[]> => {
  const page = await session.get(`/console/history${query}`);
  expect(page.status).toBe(200);
  const list = /<ol class="minutes">(.*)<\/ol>/s.exec(page.text)?.[1] ?? '';
  const texts = list.split(/<li(?= class="muted quiet"|><details| class="asked")/).slice(1);
  return texts.map((text) =>
    text
      .replace(/^[^>]*>/, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
};

beforeAll(async () => {
  world = await startConsoleWorld({ clock: () => now, overrides: ZONE });
  session = await openConsole(world);
  const app = await registerApp(world.origin, { metadata: { client_name: 'Le Chat' } });
  const headers = bearer((await connect(app)).access_token);
  await fetch(`${world.origin}/api/v1/courses`, { headers });
  await connect(await registerApp(world.origin, { metadata: { client_name: 'Quiz Helper' } }), { member: OLU });
  await pass(3);
  // 10:36
  for (let at = 0; at < 3; at += 1) await fetch(`${world.origin}/api/v1/courses`, { headers: bearer('x'.repeat(43)) });
  await fetch(`${world.origin}/api/v1/courses`);
  const { form } = await approved(app);
  await token(app, { ...form, code_verifier: 'x'.repeat(43) });
  await world.reload({ ...HMAC, origin: 'nonsense' });
  await pass(1);
  // 10:37
  await world.reload({ ...HMAC, upstreams: { school: { url: 'http://127.0.0.1:9' } } });
  for (let at = 0; at < 8; at += 1) await fetch(`${world.origin}/api/v1/courses`, { headers });
  await pass(2);
  // 10:39
  await world.reload(HMAC);
  await session.post('/console/registration/close', { reason: 'a flood' });
  await pass(1);
  await world.restart();
  session = await openConsole(world);
  await pass(1);
});
afterAll(() => world.close());

it('has words for audit actions that exist', () => {
  const texts = readTexts(['operator/console/history/audit-lines.yaml'], ['text']);
  expect([...texts.keys()].filter((action) => !AUDIT_ACTIONS.some((one) => one === action))).toEqual([]);
});

describe('the history', () => {
  it('says minute by minute what was refused, failed, changed and stopped, the newest first', async () => {
    const minutes = await history();
    expect(minutes.map((text) => text.slice(0, 5))).toEqual([
      ...['10:41', '10:40', '10:39', '10:38', '10:37', '10:36', '10:34', '10:33', '09:41'],
    ]);
    const [, restarted, back, down, failing, refused, quiet, first, unmeasured] = minutes;
    expect(restarted).toMatch(/gate started gate ended/);
    expect(restarted).toContain('10:40:11 Operator opened the console');
    expect(back).toMatch(/10:39:11 Registration closed by the operator reason: a flood from 127\.0\.0\.1 request /);
    expect(back).toContain('New configuration applied');
    expect(down).toMatch(/^10:38 school down school has given no response since 10:37: requests to it get 503 at once/);
    expect(failing).toContain('school gave no response to 5 requests');
    expect(failing).toContain('8 requests failed: 5 upstream unreachable, 3 upstream unavailable');
    expect(failing).toContain('Requests: failed 8. Responses: 5xx 8.');
    expect(refused).toMatch(/^10:36 4 refusals configuration refused 2 audit lines 1 stopped attempt /);
    expect(refused).toContain(
      '4 requests refused: 3 invalid token, 1 invalid grant 1 request without a token, with which',
    );
    expect(refused).toContain('New configuration refused: the one before stays in use');
    expect(refused).toContain('Le Chat could not connect: The code_verifier does not match the code_challenge');
    expect(quiet).toMatch(/^10:34 to 10:35: nothing to report/);
    expect(first).toContain('gate started');
    expect(unmeasured).toBe('09:41 to 10:32: not measured');
  });

  it('marks what failed and what warns, and nothing else', async () => {
    const { text } = await session.get('/console/history');
    const lines = [...text.matchAll(/<li class="([^"]*)"><p>(.*?)<\/p>/gs)];
    const lookOf = (said: string) => lines.find(([, , line]) => line?.includes(said))?.[1];
    expect(lookOf('New configuration refused')).toBe('bad');
    expect(lookOf('New configuration applied')).toBe('');
    expect(lookOf('Registration closed')).toBe('');
    expect(lookOf('4 requests refused')).toBe('warn');
    expect(lookOf('8 requests failed')).toBe('bad');
  });

  it('shows one time with five minutes around it, that minute open and the others closed', async () => {
    const { text } = await session.get('/console/history?at=2026-11-24T10:36');
    expect(text).toContain('value="2026-11-24T10:36"');
    expect(text).toContain('24 Nov, 10:31 to 10:41<');
    expect(text.match(/<details open><summary><b>[^<]*/g)).toEqual(['<details open><summary><b>10:36']);
    expect(text).toMatch(/<li class="asked" id="asked"><details open><summary><b>10:36/);
    expect(text).toContain('href="/console/history?at=2026-11-24T10%3A25&amp;around=5" rel="prev"');
    expect(text).not.toContain('rel="next"');
    const earlier = (await session.get('/console/history?at=2026-11-24T10:25&around=5')).text;
    expect(earlier).toContain('24 Nov, 10:20 to 10:30<');
    expect(earlier).toContain('href="/console/history?at=2026-11-24T10%3A36&amp;around=5" rel="next"');
    expect((await session.get('/console/history?at=10:36')).status).toBe(400);
  });

  it('shows one kind, one member or one app, by any part of the name', async () => {
    const times = async (query: string) => (await history(query)).map((text) => /[\d]{2}:\d{2}/.exec(text)?.[0]);
    expect(await times('?kind=failures')).toEqual(['10:38', '10:37']);
    expect(await times('?kind=gate')).toEqual(['10:40', '10:39', '10:37', '10:36', '10:33']);
    expect(await times('?kind=attempts')).toEqual(['10:36']);
    expect(await times('?kind=refusals')).toEqual(['10:36']);
    for (const query of ['?app=le%20chat', '?member=m-1001', `?member=${SAM.login.slice(0, 5)}`]) {
      const [stopped, approvedFirst, ...others] = await history(query);
      expect(stopped).toMatch(/^24 Nov, 10:36 .*App approved.*could not connect/);
      expect(stopped).not.toContain('refused');
      expect(approvedFirst).toMatch(/^24 Nov, 10:33 .*App approved/);
      expect(stopped + String(approvedFirst)).not.toMatch(/Quiz Helper|Olu/);
      expect(others).toEqual([]);
    }
    for (const query of ['?app=quiz', '?member=m-1002', '?member=olu']) {
      const [only, ...others] = await history(query);
      expect(only).toMatch(/^24 Nov, 10:33 .*App approved member Olu/);
      expect(only).not.toMatch(/Le Chat|Sam/);
      expect(others).toEqual([]);
    }
    expect(await history('?member=m-1002&app=le%20chat')).toEqual([]);
    expect(await times('?member=m-100&kind=attempts')).toEqual(['10:36']);
    // The minute that was asked for is always there.
    expect(await times('?at=2026-11-24T10:30&around=5&app=quiz')).toEqual(['10:33', '10:30']);
    expect(await times('?at=2026-11-24T10:39&around=5&app=quiz')).toEqual(['10:39']);
    expect(await times('?at=2026-11-24T10:30&around=5&kind=attempts')).toEqual(['10:30']);
    const { text } = await session.get('/console/history?member=nobody');
    expect(text).toContain('Nothing of this in this time.');
  });
});
