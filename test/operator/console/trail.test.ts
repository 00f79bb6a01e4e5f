import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/operations/audit.ts';
import { createTrail } from '../../../src/operations/record/trail.ts';
import { aboutOf, actionOf } from '../../../src/operator/console/history/audit-line.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import type { RawStore } from '../../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 1, 12);

let now = START;
const clock = () => now;
const present = redisPresent();
let redis: RedisServer | undefined;
let made = 0;
beforeAll(async () => {
  if (present) redis = await startRedis();
});
afterAll(() => redis?.close());

const STORES: [string, () => RawStore][] = [
  ['sqlite', () => memoryStore(clock)],
  ...(present
    ? [
        ['redis', () => redisStore({ url: redis?.url ?? '', keyPrefix: `t${++made}` }, clock)] as [
          string,
          () => RawStore,
        ],
      ]
    : []),
];

const consent: AuditEvent = {
  ...{ action: 'consent_given', member: 'ann', clientId: 'https://app.example/client.json', grantId: 'g1' },
  ...{ clientName: 'App', address: '192.0.2.7', requestId: 'r1' },
};

describe.each(STORES)('the trail in %s', (_name, make) => {
  const warnings: unknown[] = [];
  const log = { warn: (line: unknown) => warnings.push(line) };
  let raw: RawStore;
  const open = (most?: number) =>
    createTrail({
      store: sealedStore(raw, 'k'.repeat(32)),
      clock,
      log: log as never,
      ...(most === undefined ? {} : { most }),
    });
  beforeAll(() => {
    raw = make();
  });
  afterAll(() => raw.close());

  it('names the tool of a call that the member approved', async () => {
    const trail = open();
    trail.audited({ ...consent, member: 'eve', action: 'approval_given', used: { kind: 'tool', name: 'enrol' } });
    const [line] = await trail.of({ member: 'eve' }, 50);
    expect(line).toMatchObject({ action: 'approval_given', tool: 'enrol' });
    const shown = line && [actionOf(line), ...aboutOf(line, { member: 'eve' }).map(String)];
    expect(shown).toContain('Member approved a call');
    expect(shown).toContain('tool <code>enrol</code>');
  });

  it('shows lines of a member, an app and a grant, also before they are written and from other replicas', async () => {
    const trail = open();
    trail.audited(consent);
    for (const subject of [{ member: 'ann' }, { client: consent.clientId ?? '' }, { grant: 'g1' }]) {
      expect(await trail.of(subject, 50)).toMatchObject([{ ...consent, at: START }]);
      expect(await open().of(subject, 50)).toEqual([]);
    }
    await trail.flush();
    for (const subject of [{ member: 'ann' }, { client: consent.clientId ?? '' }, { grant: 'g1' }])
      expect(await open().of(subject, 50)).toEqual(await trail.of(subject, 50));
    expect(await trail.of({ member: 'ben' }, 50)).toEqual([]);
  });

  it('keeps no refresh, call or refusal, and nothing about no one', async () => {
    const trail = open();
    const of = { member: 'cat', clientId: 'c', grantId: 'g' };
    for (const action of ['token_refreshed', 'tool_called', 'access_denied', 'code_issued'] as const)
      trail.audited({ action, ...of });
    trail.audited({ action: 'signed_in' });
    expect(await trail.of({ member: 'cat' }, 50)).toEqual([]);
  });

  it('shows the newest first, of the last 30 days', async () => {
    const trail = open();
    for (const days of [0, 1, 20]) {
      now = START + days * DAY;
      trail.audited({ action: 'signed_in', member: 'dan', reason: `day ${days}` });
    }
    await trail.flush();
    const reasons = async (limit = 50) => (await open().of({ member: 'dan' }, limit)).map(({ reason }) => reason);
    expect(await reasons()).toEqual(['day 20', 'day 1', 'day 0']);
    expect(await reasons(1)).toEqual(['day 20']);
    now = START + 30.5 * DAY;
    expect(await reasons()).toEqual(['day 20', 'day 1']);
    now = START;
  });

  it('shows the lines of a time, about everyone and about the gate, also from other replicas', async () => {
    const at = START + 3 * DAY;
    const actionsOf = async (minutes: number) => {
      const { lines } = await open().between(at, at + minutes * 60_000, 50);
      return lines.map(({ action, by, reason }) => [action, by ?? reason]);
    };
    const trail = open();
    now = at - 1;
    trail.audited({ action: 'config_reloaded', by: 'operator' });
    now = at;
    trail.audited({ action: 'config_reloaded', outcome: 'failure', reason: 'failed', by: 'operator' });
    now = at + 12 * 60_000;
    trail.audited({ action: 'signed_in', member: 'ann', reason: 'session' });
    now = at + 30 * 60_000;
    trail.audited({ action: 'command_refused', reason: 'no signature', address: '192.0.2.9' });
    expect((await trail.between(at, now + 1, 50)).lines.map(({ action }) => action)).toEqual([
      'command_refused',
      'signed_in',
      'config_reloaded',
    ]);
    await trail.flush();
    expect(await actionsOf(0)).toEqual([]);
    expect(await actionsOf(1)).toEqual([['config_reloaded', 'operator']]);
    expect(await actionsOf(31)).toEqual([
      ['command_refused', 'no signature'],
      ['signed_in', 'session'],
      ['config_reloaded', 'operator'],
    ]);
    expect((await open().between(at, at + 60_000, 50)).lines).toMatchObject([{ outcome: 'failure', at }]);
    expect((await open().between(at, at + 60_000, 50)).complete).toBe(true);
    expect(await open().between(at, now + 1, 2)).toMatchObject({ lines: [{}, {}], complete: false });
    now = START;
  });

  it('bounds what waits, and says how much was dropped', async () => {
    const trail = open(10);
    for (let count = 0; count < 25; count += 1)
      trail.audited({ action: 'signed_in', member: 'eve', reason: `${count}` });
    await trail.flush();
    expect(await trail.of({ member: 'eve' }, 50)).toHaveLength(10);
    expect(warnings).toEqual([{ dropped: 15 }]);
  });

  it('keeps the lines for the next flush while the store fails', async () => {
    const working = sealedStore(raw, 'k'.repeat(32));
    let down = true;
    const commit: typeof working.commit = (...given) =>
      down ? Promise.reject(new Error('down')) : working.commit(...given);
    const trail = createTrail({ store: { ...working, commit }, clock, log: log as never });
    trail.audited({ action: 'signed_in', member: 'fay' });
    await expect(trail.flush()).rejects.toThrow('down');
    down = false;
    await trail.flush();
    expect(await open().of({ member: 'fay' }, 50)).toHaveLength(1);
  });

  it('stores nothing readable', async () => {
    const stored = await raw.scan(['AuditTrail'], undefined, 10_000);
    expect(stored.entries.length).toBeGreaterThan(0);
    // Deleted by the sweep, 30 days after what they are about.
    const ends = stored.entries.map(({ expiresAt }) => expiresAt);
    expect(ends).toContain(START / 1000 + 30 * 86_400);
    expect(ends).not.toContain(undefined);
    expect(JSON.stringify(stored)).not.toMatch(/"ann\b|app\.example|192\.0\.2\.7|consent_given/);
  });

  it('lets strangers evict their own lines, and no line of an operator or a member', async () => {
    const trail = open();
    trail.audited({ action: 'client_updated', clientId: 'kept', by: 'operator', address: '192.0.2.9' });
    trail.audited({ action: 'signed_in', member: 'gil', address: '192.0.2.9' });
    trail.audited({ action: 'client_updated', clientId: 'first', address: '192.0.2.9' });
    await trail.flush();
    // Strangers of one network may keep a mebibyte, and a line counts for more than one kibibyte.
    for (let count = 0; count < 1024; count += 1)
      trail.audited({ action: 'client_updated', clientId: `c${count}`, address: '192.0.2.9' });
    await trail.flush();
    const linesOf = async (subject: Parameters<typeof trail.of>[0]) => (await open().of(subject, 50)).length;
    expect(await linesOf({ client: 'first' })).toBe(0);
    expect(await linesOf({ client: 'c1023' })).toBe(1);
    expect(await linesOf({ client: 'kept' })).toBe(1);
    expect(await linesOf({ member: 'gil' })).toBe(1);
  });

  it('says when ten minutes have more lines than are read', async () => {
    now = START + 4 * DAY;
    const trail = open();
    for (let count = 0; count < 501; count += 1) trail.audited({ action: 'signed_in', member: `m${count}` });
    await trail.flush();
    const { lines, complete } = await open().between(now, now + 1, 10_000);
    expect(lines).toHaveLength(500);
    expect(complete).toBe(false);
    now = START;
  });
});
