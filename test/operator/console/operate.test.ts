import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../../src/operations/log.ts';
import { registerApp } from '../../support/app.ts';
import { EVENTS_SECRET } from '../../support/event-receiver.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import type { World } from '../../support/world.ts';
import { type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;
let now = Date.UTC(2026, 10, 23, 11, 58);

const folder = mkdtempSync(join(tmpdir(), 'coursegate-operate-'));
const file = join(folder, 'log');
let backend: RecordingUpstream;
let world: World;
let session: ConsoleSession;
beforeAll(async () => {
  backend = await startRecordingUpstream((_request, response) => void response.writeHead(410).end());
  world = await startConsoleWorld({
    clock: () => now,
    log: createLog('info', openSync(file, 'a')),
    environment: { EVENTS_SECRET },
    overrides: {
      timeZone: 'Europe/Berlin',
      upstreams: { hooks: { url: backend.url } },
      events: { upstream: 'hooks', path: '/hook', secret: { env: 'EVENTS_SECRET' } },
    },
  });
  session = await openConsole(world);
});
afterAll(async () => {
  await world.close();
  await backend.close();
  rmSync(folder, { recursive: true, force: true });
});

const audited = (action: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"event.action":"${action}"`))
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const published = async (): Promise<readonly string[]> => {
  const { keys } = (await (await fetch(`${world.origin}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};

const show = async (path: string) => {
  const { status, text } = await session.get(path);
  expect([path, status]).toEqual([path, 200]);
  return text;
};

describe('the page of signing keys', () => {
  it('shows what is published, in words, and no private part', async () => {
    now += 90 * MINUTE;
    session = await openConsole(world);
    const page = await show('/console/keys');
    for (const kid of await published()) expect(page).toContain(`<code>${kid}</code>`);
    expect(page.match(/class="badge good">Signing</g)?.length).toBe(2);
    expect(page).toMatch(/In use since<\/dt><dd><time[^>]*>23 Nov 2026, 12:58 CET<\/time> \(90 minutes\)/);
    expect(page).toMatch(/Next rotation<\/dt><dd><time[^>]*>21 Feb 2027, 12:58 CET</);
    expect(page).not.toMatch(/"d"|private/);
  });

  it('rotates after a confirmation, with the reason in the audit', async () => {
    const before = await published();
    const confirmation = await show('/console/keys/rotate');
    expect(confirmation).toContain('<button class="go">Rotate the keys</button>');
    expect(confirmation).not.toContain('name="now"');
    expect(await published()).toEqual(before);
    const rotated = await session.post('/console/keys/rotate', { reason: 'yearly' });
    expect([rotated.status, rotated.location]).toEqual([303, '/console/keys']);
    expect(await show('/console/keys')).toContain('The keys are rotated.');
    expect((await published()).length).toBe(before.length + 2);
    expect(audited('keys_rotated')[0]).toMatchObject({ 'coursegate.by': 'operator', 'event.reason': 'yearly' });
  });

  it('warns when verifiers may not know the next key, and rotates then only if told so', async () => {
    now += 20 * MINUTE;
    session = await openConsole(world);
    const before = await published();
    // From a page that was shown before the first rotation.
    const stale = await session.post('/console/keys/rotate', {});
    expect([stale.status, await published()]).toEqual([200, before]);
    expect(stale.text).toContain('Wait 40 minutes');
    const confirmation = await show('/console/keys/rotate');
    expect(confirmation).toContain('Wait 40 minutes');
    expect(confirmation).toContain('<input type="hidden" name="now" value="yes">');
    expect((await session.post('/console/keys/rotate', { now: 'yes' })).status).toBe(303);
    expect((await published()).length).toBe(before.length + 2);
  });

  it('removes a key after a confirmation', async () => {
    const [kid = ''] = await published();
    expect(await show(`/console/keys/${kid}/remove`)).toContain('It stops signing at once');
    expect(await published()).toContain(kid);
    expect((await session.post(`/console/keys/${kid}/remove`, { reason: 'leaked' })).location).toBe('/console/keys');
    expect(await published()).not.toContain(kid);
    expect(await show('/console/keys')).toContain(`The key ${kid} is removed.`);
    expect(audited('key_removed')).toMatchObject([{ 'coursegate.key_id': kid, 'event.reason': 'leaked' }]);
    expect((await session.get(`/console/keys/${kid}/remove`)).status).toBe(404);
    expect((await session.post(`/console/keys/${kid}/remove`)).status).toBe(404);
  });
});

describe('the page of events', () => {
  it('shows that nothing is pending', async () => {
    const page = await show('/console/events');
    expect(page).toContain('/hook of hooks');
    expect(page).toContain('none: the backend has accepted everything');
    expect(page).not.toContain('Retry now');
  });

  it('shows what is pending and why, and sends it again', async () => {
    await registerApp(world.origin);
    await vi.waitUntil(async () => (await show('/console/events')).includes('answered 410 Gone'), { timeout: 30_000 });
    const page = await show('/console/events');
    expect(page).toContain('1: 1 about apps');
    expect(page).toContain('<code>client.registered</code>');
    expect(page).toContain('<button class="go">Retry now</button>');
    backend.script((_request, response) => void response.writeHead(204).end());
    const retried = await session.post('/console/events/retry');
    expect(retried.location).toBe('/console/events');
    expect(await show('/console/events')).toContain('Sending 1 event again.');
    await vi.waitUntil(async () => (await show('/console/events')).includes('has accepted everything'), {
      timeout: 30_000,
    });
    expect(audited('events_retried')).toMatchObject([{ 'coursegate.by': 'operator', 'event.category': ['api'] }]);
  });
});

describe('without events and observe mode', () => {
  beforeAll(async () => {
    await world.restart({ admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } });
    session = await openConsole(world);
  });

  it('the page of events says how to switch them on', async () => {
    expect(await show('/console/events')).toContain('coursegate events test');
    expect((await session.post('/console/events/retry')).status).toBe(404);
  });

  it('the page of observe mode says what it is and how to switch it on', async () => {
    expect(await show('/console/observe')).toContain('enforcement: { mode: observe }');
    expect(await show('/console/observe/accept')).toContain('enforcement: { mode: observe }');
    expect((await session.post('/console/observe/accept', { draft: 'x' })).text).toContain(
      'The gate enforces its routes.',
    );
  });
});
