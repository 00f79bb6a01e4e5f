import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../src/operations/audit.ts';
import { unusedTokens } from '../../src/operations/unused-tokens.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';

const START = Date.UTC(2026, 0, 1);

describe('unused tokens', () => {
  let now = START;
  let lines: { level: string; fields: Record<string, unknown>; text: string }[] = [];
  const clock = () => now;
  const log = {
    warn: (fields: unknown, text?: string) =>
      lines.push({ level: 'warn', fields: fields as Record<string, unknown>, text: text ?? '' }),
    info: (fields: unknown, text?: string) =>
      lines.push({ level: 'info', fields: fields as Record<string, unknown>, text: text ?? '' }),
  } as unknown as Parameters<typeof unusedTokens>[0]['log'];
  const gate = (store = memoryStore(clock), replicas = false) => unusedTokens({ store, replicas, clock, log });
  const issued = (grantId: string, clientHost = 'claude.ai', action: AuditEvent['action'] = 'token_issued') =>
    ({ action, grantId, clientHost, clientId: `c-${grantId}`, member: 'm' }) as AuditEvent;
  const tenMinutes = () => {
    now += 600_000;
  };
  beforeEach(() => {
    now = START;
    lines = [];
  });

  it('are reported once after three connections of one app in a row, with what to check', async () => {
    const tokens = gate();
    for (const grant of ['a', 'b', 'c']) tokens.audited(issued(grant));
    tokens.audited(issued('x', 'chatgpt.com'));
    now += 599_000;
    await tokens.evaluate();
    expect([lines, tokens.connections(), tokens.apps().length]).toEqual([[], 0, 0]);
    now += 1000;
    await tokens.evaluate();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: 'warn', fields: { 'oauth.client_host': 'claude.ai', connections: 3 } });
    for (const word of ['Claude-User', 'bot', 'Authorization', 'coursegate doctor']) {
      expect(lines[0]?.text).toContain(word);
    }
    expect([tokens.connections(), tokens.apps().length]).toEqual([4, 1]);
    tokens.audited(issued('d'));
    tenMinutes();
    await tokens.evaluate();
    expect(lines).toHaveLength(1);
  });

  it('are reset when a token is used, and reported again after three more', async () => {
    const tokens = gate();
    const wait = async (grants: string) => {
      for (const grant of grants) tokens.audited(issued(grant));
      tenMinutes();
      await tokens.evaluate();
    };
    await wait('ab');
    tokens.audited(issued('c'));
    tokens.used('c', 'c-c');
    await wait('de');
    expect([lines, tokens.apps().length]).toEqual([[], 0]);
    await wait('f');
    expect([lines.length, tokens.apps().length]).toEqual([1, 1]);
    tokens.audited(issued('g'));
    tokens.used('g', 'c-g');
    expect(lines[1]).toMatchObject({ level: 'info', fields: { 'oauth.client_host': 'claude.ai' } });
    expect(tokens.apps().length).toBe(0);
    await wait('hij');
    expect(lines).toHaveLength(3);
  });

  it('exclude tokens that were used, refreshed or introspected', async () => {
    const tokens = gate();
    const active = (grantId: string) => ({ active: true, grantId, clientId: `c-${grantId}` }) as const;
    const ask = tokens.observed(async (token) => (token === 'bad' ? { active: false } : (active(token) as never)));
    for (const grant of ['a', 'b', 'c']) tokens.audited(issued(grant));
    for (const shown of ['a', 'b', 'c']) expect(await ask(shown)).toMatchObject({ active: true });
    for (const grant of ['x', 'y', 'z']) tokens.audited(issued(grant, 'other.example', 'token_refreshed'));
    await ask('bad');
    tenMinutes();
    await tokens.evaluate();
    expect([lines, tokens.connections()]).toEqual([[], 0]);
  });

  it('exclude tokens that were used at another replica', async () => {
    const store = memoryStore(clock);
    const [one, other] = [gate(store, true), gate(store, true)];
    for (const grant of ['a', 'b', 'c', 'd', 'e', 'f']) one.audited(issued(grant));
    for (const grant of ['d', 'e', 'f']) other.used(grant, `c-${grant}`);
    now += 600_000;
    await one.evaluate();
    expect([one.connections(), one.apps().length]).toEqual([3, 0]);
  });

  it('are no reason to name an app that uses the tokens of another connection meanwhile, here or at another replica', async () => {
    const store = memoryStore(clock);
    const [one, other] = [gate(store, true), gate(store, true)];
    const wait = async (grants: string) => {
      for (const grant of grants) one.audited({ ...issued(grant), clientId: 'c' });
      now += 300_000;
    };
    one.audited({ ...issued('old', 'claude.ai', 'token_refreshed'), clientId: 'c' });
    await wait('abc');
    one.used('old', 'c');
    now += 300_000;
    await one.evaluate();
    expect([one.connections(), one.apps(), lines]).toEqual([3, [], []]);
    await wait('def');
    other.used('older', 'c');
    now += 300_000;
    await one.evaluate();
    expect([one.apps(), lines]).toEqual([[], []]);
    await wait('ghi');
    now += 300_000;
    await one.evaluate();
    expect(one.apps()).toEqual([expect.objectContaining({ name: 'claude.ai', clientId: 'c' })]);
  });

  it('of apps on the member’s own device are told apart by their names', async () => {
    const tokens = gate();
    for (const clientName of ['Cursor', 'Claude Code', undefined])
      tokens.audited({ ...issued(`g-${clientName}`, 'localhost'), clientName });
    for (const grant of 'ab') tokens.audited({ ...issued(grant, 'localhost'), clientName: 'Cursor' });
    tenMinutes();
    await tokens.evaluate();
    expect(tokens.apps().map(({ name }) => name)).toEqual(['Cursor (localhost)']);
  });

  it('are not counted while the store is unavailable', async () => {
    const store = memoryStore(clock);
    const tokens = gate({ ...store, get: () => Promise.reject(new Error('ill')) }, true);
    tokens.audited(issued('a'));
    tenMinutes();
    await expect(tokens.evaluate()).rejects.toThrow('ill');
    expect(tokens.connections()).toBe(0);
  });

  it('take no more memory for a hundred thousand connections than for ten thousand', async () => {
    const tokens = gate();
    for (let at = 0; at < 100_000; at += 1) tokens.audited(issued(`g-${at}`, `h-${at}`));
    tenMinutes();
    await tokens.evaluate();
    expect(tokens.connections()).toBe(10_000);
  });
});
