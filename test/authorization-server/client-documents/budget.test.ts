import { LRUCache } from 'lru-cache';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type FetchBudget,
  type FetchTurn,
  fetchBudget,
} from '../../../src/authorization-server/client-documents/budget.ts';
import {
  documentRecords,
  type StoredDocument,
} from '../../../src/authorization-server/client-documents/document-records.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { fromClient } from '../../support/client.ts';
import { plainDocument } from './support/document-host.ts';

const SECOND = 1000;
/** Longer than any test runs, so that a fetch that waits this long is still waiting when the test ends. */
const FOREVER = 600 * SECOND;

describe('the budget of document fetches', () => {
  let now: number;
  let budget: FetchBudget;
  let hosts: number;

  beforeEach(() => {
    now = Date.parse('2026-11-01T12:00:00Z');
    budget = fetchBudget(() => now);
    hosts = 0;
  });

  const someHost = () => {
    hosts += 1;
    return `h${hosts}.example`;
  };
  const enter = (address: string, { host = someHost(), patience = 0 } = {}): Promise<FetchTurn | 'busy'> =>
    budget.enter({ host, address, patience }).catch((thrown: { kind: string }) => {
      expect(thrown.kind).toBe('busy');
      return 'busy' as const;
    });
  /** Starts as many fetches as are admitted and leaves them running. Returns their turns. */
  const begin = async (times: number, address: string | ((at: number) => string), host?: string) => {
    const asked = Array.from({ length: times }, (_, at) =>
      enter(typeof address === 'string' ? address : address(at), host === undefined ? {} : { host }),
    );
    return (await Promise.all(asked)).filter((turn) => turn !== 'busy');
  };
  /** The same, but ends each fetch immediately. Returns how many were admitted. */
  const fetched = async (times: number, address: string | ((at: number) => string), host?: string) => {
    const turns = await begin(times, address, host);
    for (const turn of turns) turn.end();
    return turns.length;
  };

  it('allows one address 10 at once, then 5 a second', async () => {
    expect(await fetched(300, '203.0.113.1')).toBe(10);
    expect(await fetched(1, '203.0.113.1')).toBe(0);
    now += 400;
    expect(await fetched(300, '203.0.113.1')).toBe(2);
    now -= SECOND;
    expect(await fetched(1, '203.0.113.1')).toBe(0);
  });

  it.each([
    ['an IPv4 /24', (at: number) => `203.0.113.${at % 256}`],
    ['an IPv6 /64', (at: number) => `2001:db8:7:1::${at}`, 10],
    ['an IPv6 /48', (at: number) => `2001:db8:7:${at}::1`],
  ])('allows %s 20 at once, and one /64 fewer', async (_name, address, most = 20) => {
    expect(await fetched(300, address)).toBe(most);
    expect(await fetched(1, '198.51.100.1')).toBe(1);
  });

  it('allows 5 at once from one host, 3 of them for one address, and frees them afterwards', async () => {
    const one = await begin(8, '203.0.113.1', 'one.example');
    expect(one).toHaveLength(3);
    expect(await begin(8, '198.51.100.1', 'one.example')).toHaveLength(2);
    expect(await begin(8, '192.0.2.1', 'one.example')).toHaveLength(0);
    for (const turn of one) turn.end();
    expect(await begin(8, '192.0.2.1', 'one.example')).toHaveLength(3);
  });

  it('allows 20 a second from one host, for all addresses together', async () => {
    let got = 0;
    for (let at = 0; at < 100; at += 1) got += await fetched(1, `198.51.${at}.1`, 'one.example');
    expect(got).toBe(20);
    expect(await fetched(1, '198.51.200.1')).toBe(1);
  });

  it('allows 100 at once and 100 a second in total', async () => {
    const running = await begin(150, (at) => `198.51.${at}.1`);
    expect(running).toHaveLength(100);
    now += SECOND;
    expect(await fetched(1, '203.0.113.1')).toBe(0);
    running[0]?.end();
    expect(await fetched(1, '203.0.113.1')).toBe(1);
    for (const turn of running.slice(1)) turn.end();
    expect(await fetched(150, (at) => `198.18.${at}.1`)).toBe(99);
  });

  it('is not consumed by a turn that needed no fetch', async () => {
    for (let at = 0; at < 300; at += 1) {
      const turn = await enter('203.0.113.1', { host: 'one.example' });
      expect(turn).not.toBe('busy');
      if (turn !== 'busy') turn.unused();
    }
  });

  it('serves 300 clients at once while one address sends requests nonstop', async () => {
    let hammered = 0;
    const hammer = () =>
      void enter('203.0.113.1', { patience: FOREVER }).then((turn) => {
        if (turn === 'busy') return;
        hammered += 1;
        turn.end();
      });
    for (let at = 0; at < 300; at += 1) hammer();
    let served = 0;
    const clients = Array.from({ length: 300 }, async (_, at) => {
      const turn = await enter(`198.${18 + (at >> 8)}.${at % 256}.1`, { patience: FOREVER });
      if (turn === 'busy') return;
      served += 1;
      turn.end();
    });
    for (let tenths = 0; tenths < 25; tenths += 1) {
      now += 100;
      for (let at = 0; at < 10; at += 1) hammer();
      await enter('192.0.2.1');
    }
    await Promise.all(clients);
    expect(served).toBe(300);
    expect(hammered).toBeLessThanOrEqual(10 + 2.5 * 5);
  });

  it('serves those with the fewest recent fetches first', async () => {
    const order: string[] = [];
    const wait = (name: string, address: string) =>
      enter(address, { patience: FOREVER }).then((turn) => {
        order.push(name);
        if (turn !== 'busy') turn.end();
      });
    for (let round = 0; round < 2; round += 1) expect(await fetched(50, (at) => `198.51.${at}.1`)).toBe(50);
    const waiting = Array.from({ length: 50 }, (_, at) => wait('flood', `198.51.${at}.1`));
    const newcomer = wait('newcomer', '203.0.113.1');
    now += 10;
    await newcomer;
    expect(order).toEqual(['newcomer']);
    now += SECOND;
    await Promise.all(waiting);
    expect(order).toHaveLength(51);
  });

  it('queues 500, 10 per address, and drops the one that fetched most for a newcomer', async () => {
    const refused: string[] = [];
    const wait = (address: string) =>
      void enter(address, { patience: FOREVER }).then((turn) => turn === 'busy' && refused.push(address));
    const running = await begin(100, (at) => `198.51.${at}.1`);
    for (let at = 0; at < 12; at += 1) wait('203.0.113.1');
    await enter('192.0.2.1');
    expect(refused).toEqual(['203.0.113.1', '203.0.113.1']);
    for (let at = 0; at < 100; at += 1) wait(`198.51.${at}.1`);
    for (let at = 0; at < 390; at += 1) wait(`198.18.${at >> 1}.${at % 2}`);
    wait('192.0.2.1');
    await new Promise(setImmediate);
    expect(refused.slice(2)).toEqual(['198.51.99.1']);
    now += SECOND;
    for (const turn of running) turn.end();
  });
});

it('stores the newest 1 MiB of unapproved documents per network', async () => {
  let now = Date.parse('2026-11-01T12:00:00Z');
  const clock = () => now;
  const store = memoryStore(clock);
  const memory = new LRUCache<string, StoredDocument>({ max: 10 });
  const records = documentRecords({ scope: 'openid', store, clock, validate: () => undefined, memory });
  const at = (number: number) => `https://six.example/${number}.json`;
  for (let number = 0; number < 1010; number += 1) {
    now += SECOND;
    const document = plainDocument(at(number));
    const known = records.validated({ document, fetchedAt: now, freshUntil: now + 60 * SECOND, used: number === 0 });
    await fromClient('203.0.113.1', () => records.save(at(number), known));
  }
  const { entries } = await store.scan(['ClientDocument'], undefined, 2000);
  const unused = entries.filter(({ id }) => id !== at(0));
  const held = unused.reduce((sum, { payload }) => sum + 1024 + Buffer.byteLength(payload), 0);
  expect(held).toBeLessThanOrEqual(1024 * 1024);
  expect(held).toBeGreaterThan(1000 * 1024);
  // Document 0 was used by an approved app.
  expect(await store.get('ClientDocument', at(0))).toBeDefined();
  expect(await store.get('ClientDocument', at(1))).toBeUndefined();
  expect(await store.get('ClientDocument', at(1009))).toBeDefined();
});
