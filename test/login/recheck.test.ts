import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyLogin } from '../../src/config/recheck.ts';
import { createRecheck } from '../../src/login/recheck.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type Connected, connectedTo } from './support/backend.ts';

const UNAVAILABLE = { code: 'login_unavailable', status: 503 };

let backend: RecordingUpstream;
let gate: Connected;
beforeAll(async () => {
  backend = await startRecordingUpstream();
  gate = await connectedTo(backend.url);
});
afterAll(async () => {
  await gate.close();
  await backend.close();
});

const recheck = (settings: Record<string, unknown> = {}, key?: string) => {
  const config = everyLogin.recheck.parse({ upstream: 'school', path: '/members/{member.id}', ...settings });
  if (config === undefined) throw new Error('there is no recheck');
  return createRecheck(config, key, gate.call);
};

describe('rechecking a member at the backend', () => {
  it.each<[string, string, string]>([
    ['m-1', '/members/{member.id}', '/members/m-1'],
    ['a b', '/members/{member.id}', '/members/a%20b'],
    ['a?b#c&d=e%2e', '/members/{member.id}/state', '/members/a%3Fb%23c%26d%3De%252e/state'],
    ["Zoë's(*)!", '/m/{member.id}', '/m/Zo%C3%AB%27s%28%2A%29%21'],
    ['a@b.example', '/m?id={member.id}&full=1', '/m?id=a%40b.example&full=1'],
    ['$&', '/m/{member.id}/{member.id}', '/m/%24%26/%24%26'],
    ['...', '/m/{member.id}', '/m/...'],
  ])('looks up %s at %s as %s', async (sub, path, target) => {
    expect(await recheck({ path })(sub)).toEqual({ kind: 'good', version: undefined });
    expect(backend.last().target).toBe(target);
    expect(backend.last().values('accept')).toEqual(['application/json']);
  });

  it.each(['.', '..', '../admin', 'a/b', 'a\\b', 'al\ud800ce'])('never looks up %j', async (sub) => {
    const before = backend.requests.length;
    await expect(recheck()(sub)).rejects.toMatchObject(UNAVAILABLE);
    expect(backend.requests.length).toBe(before);
  });

  it.each<[object, string, string]>([
    [{ header: 'X-Service-Key' }, 'x-service-key', 'k'.repeat(16)],
    [{ scheme: 'Bearer' }, 'authorization', `Bearer ${'k'.repeat(16)}`],
    [{}, 'authorization', 'k'.repeat(16)],
  ])('sends its key with %j', async (key, field, value) => {
    await recheck({ key: { ...key, secret: { env: 'KEY' } } }, 'k'.repeat(16))('m-1');
    expect(backend.last().values(field)).toEqual([value]);
  });

  it('takes none of several members for the one it asked about', async () => {
    const answers = (body: object) =>
      backend.script((_, response) => {
        response.end(JSON.stringify(body));
      });
    answers([{ on: true }, { on: false }]);
    await expect(recheck({ active: '/0/on' })('m-1')).rejects.toMatchObject(UNAVAILABLE);
    answers([{ on: false }]);
    expect(await recheck({ active: '/0/on' })('m-1')).toEqual({ kind: 'inactive' });
  });

  it('can read header fields and HTML pages', async () => {
    backend.script((_, response) => {
      response.writeHead(200, { 'x-active': '0', 'x-epoch': '7' });
      response.end('<p class="state">1</p><i data-epoch="e8">');
    });
    const html = { format: 'html', active: 'class="state">(\\d)', version: 'data-epoch="(\\w+)"' };
    expect(await recheck(html)('m-1')).toEqual({ kind: 'good', version: 'e8' });
    expect(backend.last().values('accept')).toEqual(['*/*']);
    expect(await recheck({ format: 'header', active: 'X-Active' })('m-1')).toEqual({ kind: 'inactive' });
    expect(await recheck({ format: 'header', version: 'X-Epoch' })('m-1')).toEqual({ kind: 'good', version: '7' });
  });
});
