import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { EVENTS_SECRET, type EventReceiver, startEventReceiver } from '../support/event-receiver.ts';

describe('coursegate events', () => {
  let folder: string;
  let receiver: EventReceiver;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-events-command-'));
    receiver = await startEventReceiver();
  });
  afterAll(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => receiver.answers(undefined));

  const command = async (
    words: readonly string[],
    { url = receiver.upstream.url, events = true, secret = EVENTS_SECRET } = {},
  ) => {
    const file = join(folder, 'gate.yaml');
    const lines = [
      'version: 1',
      'profile: B',
      'origin: https://school.example',
      'store: { kind: memory }',
      'login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [s] }',
      `upstreams: { school: { url: '${url}' } }`,
      'site: { upstream: school }',
      'listen: { admin: { port: 2 } }',
      ...(events ? ['events: { upstream: school, path: /hook, secret: { env: EVENTS_SECRET } }'] : []),
    ];
    writeFileSync(file, lines.join('\n'));
    const run = runCommand(['events', ...words, '--config', file], { EVENTS_SECRET: secret });
    const code = await run.exited;
    return { code, stdout: run.stdout(), stderr: run.stderr() };
  };

  it('test sends one signed test.ping, and reports that it was accepted', async () => {
    const { code, stdout } = await command(['test']);
    expect([code, stdout]).toEqual([0, 'test.ping at /hook of school: accepted with 204.\n']);
    expect(receiver.of('test.ping').map(({ data }) => data)).toEqual([{ origin: 'https://school.example' }]);
  });

  it('test reports the response of a backend with another secret', async () => {
    const { code, stdout, stderr } = await command(['test'], {
      secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('test.ping at /hook of school: refused with 401.');
  });

  it('test reports a backend that does not respond', async () => {
    const { code, stderr } = await command(['test'], { url: 'http://127.0.0.1:1' });
    expect(code).toBe(69);
    expect(stderr).toContain('not accepted: upstream_unreachable');
  });

  it('fails when no events are configured', async () => {
    const { code, stderr } = await command(['test'], { events: false });
    expect(code).toBe(1);
    expect(stderr).toContain('This configuration has no `events`');
  });

  it.each([['list'], ['retry']])('%s fails when no gate is running', async (word) => {
    const { code, stderr } = await command([word]);
    expect(code).toBe(69);
    expect(stderr).toContain('No gate answers at http://127.0.0.1:2');
  });
});
