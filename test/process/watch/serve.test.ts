import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Command, runCommand } from '../../support/command.ts';
import { type Mounted, mounted } from '../../support/mounted.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import { freePort } from '../../support/world.ts';

/** Far more time than a busy machine needs. */
const PATIENCE = { timeout: 45_000, interval: 50 };

/** Another profile, with the Account API that it serves. */
const ACCOUNT = { profile: 'A', account: { schema: 'broken.graphql', mappings: 'broken.graphql' } };

const FIRST_KEY = 'the-first-key-of-the-upstream';
const SECOND_KEY = 'the-second-key-of-the-upstream';

describe('the gate process', () => {
  let upstream: RecordingUpstream;
  let config: Mounted;
  let secrets: Mounted;
  let gate: Command;
  let port: number;
  let adminPort: number;

  const settings = (change: (config: ReturnType<typeof plain>) => void = () => undefined) => {
    const made = plain();
    change(made);
    return stringify(made);
  };
  const plain = () => ({
    version: 1,
    profile: 'B',
    origin: `http://localhost:${port}`,
    name: 'A school',
    listen: { port, admin: { port: adminPort } },
    store: { kind: 'memory' } as Record<string, unknown>,
    login: {
      kind: 'session',
      upstream: 'back',
      whoami: { path: '/me' },
      loginUrl: 'http://localhost:1/login',
      cookies: ['school'],
    },
    upstreams: {
      back: {
        url: upstream.url,
        credential: { kind: 'key', header: 'X-Key', secret: { file: join(secrets.folder, 'key') } },
      },
    },
    routes: [{ match: 'GET /public/**', upstream: 'back', anonymous: 'serve', scopes: ['courses:read'] }] as Record<
      string,
      unknown
    >[],
  });
  const asked = async (path = '/public/x') => {
    const answer = await fetch(`http://localhost:${port}${path}`);
    await answer.text();
    return answer.status;
  };
  const keySeen = async () => {
    expect(await asked()).toBe(200);
    return upstream.last().values('x-key')[0];
  };
  const told = () =>
    gate
      .stderr()
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const outcomes = () => told().filter((line) => line['event.action'] === 'config_reloaded');
  const refusals = () => told().filter(({ msg }) => String(msg).includes('was not taken over'));
  const metric = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return text.split('\n').find((line) => line.startsWith(name));
  };
  /** Waits for the next reload, successful or not. Returns the outcome in its audit event. */
  const next = async (act: () => unknown) => {
    const before = outcomes().length;
    await act();
    await expect.poll(() => outcomes().length, PATIENCE).toBeGreaterThan(before);
    return outcomes()[before]?.['event.outcome'];
  };

  beforeAll(async () => {
    upstream = await startRecordingUpstream(answerOk);
    [port, adminPort] = [await freePort(), await freePort()];
    secrets = mounted({ key: `${FIRST_KEY}\n` });
    config = mounted({ 'coursegate.yaml': settings() });
    gate = runCommand(['serve', '--config', join(config.folder, 'coursegate.yaml')], {});
    await gate.line(/^coursegate ready/);
  });
  afterAll(async () => {
    gate.signal('SIGKILL');
    await gate.exited;
    await upstream.close();
    config.remove();
    secrets.remove();
  });

  it('loads a replaced ConfigMap, and logs which keys changed', async () => {
    expect(await asked('/more/x')).toBe(404);
    const outcome = await next(() =>
      config.swap({
        'coursegate.yaml': settings((made) => {
          made.name = 'Another school';
          made.routes.push({ match: 'GET /more/**', upstream: 'back', anonymous: 'serve' });
        }),
      }),
    );
    expect(outcome).toBe('success');
    expect(await asked('/more/x')).toBe(200);
    const line = told().findLast(({ msg }) => msg === 'the configuration was taken over');
    const details = { config: expect.stringMatching(/^[\w-]{8,}$/), milliseconds: expect.any(Number) };
    expect(line).toMatchObject({ changed: ['name', 'routes'], ...details });
    expect(JSON.stringify(line)).not.toContain('Another school');
  });

  it('loads a replaced secret, but not one that is half written', async () => {
    expect(await keySeen()).toBe(FIRST_KEY);
    expect(await next(() => secrets.swap({ key: `${SECOND_KEY}\n` }))).toBe('success');
    expect(await keySeen()).toBe(SECOND_KEY);
    const line = told().findLast(({ msg }) => msg === 'the configuration was taken over');
    expect(line).toMatchObject({ changed: ['upstreams.back.credential.secret'] });
    expect(gate.stderr()).not.toContain(SECOND_KEY);

    // Too short to be complete: it is still being written.
    const file = join(secrets.folder, 'key');
    expect(await next(() => writeFileSync(file, 'half'))).toBe('failure');
    expect(await keySeen()).toBe(SECOND_KEY);
    expect(await next(() => appendFileSync(file, '-and-the-other-half'))).toBe('success');
    expect(await keySeen()).toBe('half-and-the-other-half');
  });

  it.each<[string, () => string, RegExp]>([
    ['a syntax error', () => `${settings()}\nroutes: [`, /coursegate\.yaml:\d+:\d+ /],
    ['an unknown key', () => settings().replace('name: ', 'nam: '), /coursegate\.yaml:4:1 +nam: /],
    [
      'a missing secret file',
      () => settings().replace(join(secrets.folder, 'key'), '/nowhere/key'),
      /upstreams\.back\.credential\.secret: file \/nowhere\/key cannot be read/,
    ],
    [
      'an unknown scope',
      () => settings().replace('courses:read', 'corses:read'),
      /coursegate\.yaml:\d+:\d+ +routes\[0\]\.scopes\[0\]: /,
    ],
    [
      'an unknown upstream',
      () => settings((made) => made.routes.push({ match: 'GET /x', upstream: 'bak' })),
      /coursegate\.yaml:\d+:\d+ +routes\[1\]\.upstream: /,
    ],
    [
      'a route on the gate’s own path',
      () => settings((made) => made.routes.push({ match: 'POST /oauth/token', upstream: 'back' })),
      /coursegate\.yaml:\d+:\d+ +routes\[1\]/,
    ],
    [
      'mistakes in the Account API',
      () => `${settings()}account: { enabled: true, schema: broken.graphql, mappings: broken.graphql }\n`,
      /^broken\.graphql:1:6 /m,
    ],
    [
      'another port',
      () => settings((made) => Object.assign(made.listen, { port: 1 })),
      /coursegate\.yaml:6:3 +listen\.port: cannot be changed while the gate is running/,
    ],
    [
      'another profile',
      () => settings((made) => Object.assign(made, ACCOUNT)),
      /coursegate\.yaml:2:1 +profile: cannot be changed while the gate is running/,
    ],
  ])('keeps the current configuration if the new one has %s, and logs the position', async (_title, text, where) => {
    const before = refusals().length;
    expect(await next(() => config.swap({ 'coursegate.yaml': text(), 'broken.graphql': 'type {' }))).toBe('failure');
    const problems = refusals()[before]?.problems as readonly string[];
    expect(problems.join('\n')).toMatch(where);
    expect(await asked()).toBe(200);
    expect(await metric('coursegate_config_last_reload_successful')).toMatch(/ 0$/);
    expect((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status).toBe(200);
    const mended = settings((made) => Object.assign(made, { name: `After ${before}` }));
    expect(await next(() => config.swap({ 'coursegate.yaml': mended }))).toBe('success');
    expect(await metric('coursegate_config_last_reload_successful')).toMatch(/ 1$/);
  });

  it('reads everything again on SIGHUP, and keeps running if nothing changed', async () => {
    const fingerprint = await metric('coursegate_config_info');
    gate.signal('SIGHUP');
    await expect.poll(() => gate.stderr(), PATIENCE).toContain('nothing is different');
    expect(await asked()).toBe(200);
    expect(await metric('coursegate_config_info')).toBe(fingerprint);
  });

  it('waits for SIGHUP if watching is disabled, and watches again once it is enabled', async () => {
    const unwatched = (name: string) => settings((made) => Object.assign(made, { name, reload: { watch: false } }));
    expect(await next(() => config.swap({ 'coursegate.yaml': unwatched('A') }))).toBe('success');
    const before = outcomes().length;
    config.swap({ 'coursegate.yaml': unwatched('B') });
    expect(await next(() => gate.signal('SIGHUP'))).toBe('success');
    expect(outcomes().length).toBe(before + 1);
    config.swap({ 'coursegate.yaml': settings() });
    expect(await next(() => gate.signal('SIGHUP'))).toBe('success');
    expect(await next(() => config.swap({ 'coursegate.yaml': settings((made) => (made.name = 'C')) }))).toBe('success');
  });

  it('keeps running while its file is missing', async () => {
    expect(await next(() => rmSync(join(config.folder, 'coursegate.yaml')))).toBe('failure');
    expect(await asked()).toBe(200);
    const text = settings((made) => Object.assign(made, { name: 'Back again' }));
    expect(await next(() => writeFileSync(join(config.folder, 'coursegate.yaml'), text))).toBe('success');
  });
});
