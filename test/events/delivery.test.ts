import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accessRefused, consentDenied } from '../../src/events/event.ts';
import { storedLease } from '../../src/events/lease.ts';
import type { Store } from '../../src/storage/store.ts';
import { type TestClock, testClock } from '../storage/conformance.ts';
import { EVENTS_SECRET, type EventReceiver, startEventReceiver } from '../support/event-receiver.ts';
import type { Script } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { created, keyOf, registered, revoked, type Stand, type StandOptions, stand, stores } from './stand.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const OLD_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

let redis: RedisServer | undefined;
const present = redisPresent();
beforeAll(async () => {
  if (present) redis = await startRedis();
});
afterAll(() => redis?.close());

const STORES = stores(() => redis).filter(([name]) => name !== 'redis' || present);

describe.each(STORES)('events in %s', (_name, open) => {
  let receiver: EventReceiver;
  let clock: TestClock;
  let store: Store;
  let stands: Stand[];
  let seen = 0;
  beforeAll(async () => {
    receiver = await startEventReceiver();
  });
  afterAll(() => receiver.close());
  beforeEach(() => {
    // The reference library reads the real time.
    clock = testClock(Math.floor(Date.now() / 1000) * 1000);
    store = open(clock.now);
    stands = [];
    receiver.answers(undefined);
    receiver.forget();
    seen = receiver.upstream.requests.length;
  });
  afterEach(async () => {
    for (const one of stands) await one.close();
    await store.close();
  });

  const gate = (more: Partial<StandOptions> = {}): Stand => {
    const one = stand({ store, clock: clock.now, url: receiver.upstream.url, ...more });
    stands.push(one);
    return one;
  };
  const status =
    (code: number, fields: Record<string, string> = {}): Script =>
    (_request, response) =>
      void response.writeHead(code, fields).end();
  /** What came to the backend since it was asked last, by grant or client. Signatures are of another time than ours. */
  const came = () => {
    const bodies = receiver.upstream.requests.slice(seen).map(({ body }) => JSON.parse(body.toString()));
    seen += bodies.length;
    return bodies.map(({ type, data }) => `${type} ${data.grant_id ?? data.client?.id ?? data.reason}`);
  };
  it('are sent once and then deleted', async () => {
    const one = gate();
    await one.write(created('g1'), registered('app'));
    await one.settle();
    await one.settle();
    expect(came()).toEqual(['grant.created g1', 'client.registered app']);
    expect(one.delivered).toEqual(['grant.created', 'client.registered']);
    expect(await store.count('Event', 'client', 'grant')).toBe(0);
  });

  it('are retried on schedule with one ID and a new signature each time, and finally dropped', async () => {
    const one = gate();
    receiver.answers(status(500));
    await one.write(created('g1'));
    const waits: number[] = [];
    for (let waited = 0; waited <= 4 * DAY; ) {
      const before = receiver.upstream.requests.length;
      await one.settle();
      const sent = receiver.upstream.requests.length - before;
      expect(sent).toBeLessThanOrEqual(1);
      if (sent === 1) waits.push(waited);
      const step = waited < 10 ? 1 : waited < HOUR ? MINUTE : 20 * MINUTE;
      clock.advance(step);
      waited += step;
    }
    // After 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h and 20 h, to within a step; the next would be past three days.
    const after = waits.map((at, index) => at - (waits[index - 1] ?? 0));
    const expected = [0, 5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
    expect(after).toHaveLength(expected.length);
    for (const [index, wanted] of expected.entries()) {
      expect(after[index]).toBeGreaterThanOrEqual(wanted);
      expect(after[index]).toBeLessThanOrEqual(wanted + 20 * MINUTE);
    }
    const fields = receiver.upstream.requests.slice(-waits.length).map(({ values }) => ({
      id: values('webhook-id')[0],
      at: values('webhook-timestamp')[0],
      signature: values('webhook-signature')[0],
    }));
    expect(new Set(fields.map(({ id }) => id)).size).toBe(1);
    expect(new Set(fields.map(({ at }) => at)).size).toBe(waits.length);
    expect(new Set(fields.map(({ signature }) => signature)).size).toBe(waits.length);
    expect(one.dropped).toEqual([['grant.created', 'old']]);
    expect(one.logged.at(-1)).toMatchObject([
      'error',
      { event: 'grant.created', grant_id: 'g1', member: 'm-1', why: 'old' },
    ]);
    expect(await store.count('Event', 'client', 'grant')).toBe(0);
  });

  it('of other connections are sent while one fails, and later ones of its connection wait', async () => {
    const one = gate();
    receiver.answers((_request, response, recorded) => {
      const sick = recorded.body.toString().includes('"sick"');
      response.writeHead(sick ? 500 : 204).end();
    });
    await one.write(created('sick'), revoked('sick'), created('well'), revoked('well'));
    await one.settle();
    expect(came()).toEqual(['grant.created sick', 'grant.created well', 'grant.revoked well']);
    clock.advance(4);
    await one.settle();
    expect(came()).toEqual([]);
    receiver.answers(undefined);
    clock.advance(1);
    await one.settle();
    expect(came()).toEqual(['grant.created sick', 'grant.revoked sick']);
  });

  it('postponed just before the backend went down are sent a minute later, when it is back', async () => {
    clock.advance(60 - (Math.floor(clock.now() / 1000) % 60));
    const one = gate();
    receiver.answers((_request, response, recorded) => {
      response.writeHead(recorded.body.toString().includes('"sick"') ? 500 : 503).end();
    });
    await one.write(created('sick'), created('well'));
    await one.settle();
    expect(came()).toEqual(['grant.created sick', 'grant.created well']);
    receiver.answers(undefined);
    clock.advance(65);
    await gate().settle();
    expect(came().toSorted()).toEqual(['grant.created sick', 'grant.created well']);
  });

  it('of one connection are sent in order, even when the clocks of two replicas differ', async () => {
    const one = gate();
    const behind = gate({ clock: () => clock.now() - 30_000 });
    await one.write(created('g1'));
    await behind.write(revoked('g1'));
    await one.settle();
    expect(came()).toEqual(['grant.created g1', 'grant.revoked g1']);
  });

  it.each([
    [503, {}, 5],
    [502, {}, 5],
    [429, { 'retry-after': '90' }, 90],
    [429, { 'retry-after': '1' }, 5],
  ])('all wait when the backend responds with %d %j, for %d s', async (code, fields, seconds) => {
    const one = gate();
    receiver.answers(status(code, fields));
    await one.write(created('g1'), created('g2'));
    await one.settle();
    expect(came()).toHaveLength(1);
    receiver.answers(undefined);
    clock.advance(seconds - 1);
    await gate().settle();
    expect(came()).toEqual([]);
    clock.advance(1);
    await one.settle();
    expect(came()).toHaveLength(2);
    expect(one.failed).toEqual([String(code)]);
  });

  it('wait longer after each failed attempt to reach the backend, up to five minutes', async () => {
    const one = gate({ url: 'http://127.0.0.1:1' });
    await one.write(created('g1'));
    const tried: number[] = [];
    for (let at = 0; at < 1200; at += 1) {
      const before = one.failed.length;
      await one.settle();
      if (one.failed.length > before) tried.push(at);
      clock.advance(1);
    }
    expect(tried).toEqual([0, 5, 35, 155, 455, 755, 1055]);
    expect(new Set(one.failed)).toEqual(new Set(['upstream_unreachable']));
    const waits = [5, 30, 120, 300, 300, 300, 300];
    expect(one.logged).toEqual(waits.map((seconds) => ['warn', { reason: 'upstream_unreachable', seconds }]));
    await gate().settle();
    expect(came()).toEqual([]);
    clock.advance(300);
    await gate().settle();
    expect(came()).toEqual(['grant.created g1']);
  });

  it('wait when the backend accepts the request but does not respond', async () => {
    const one = gate({ timeout: 0.3 });
    receiver.answers(() => {});
    await one.write(created('g1'));
    await one.settle();
    expect(one.failed).toEqual(['upstream_timeout']);
    receiver.answers(undefined);
    clock.advance(5);
    await gate().settle();
    expect(came()).toEqual(['grant.created g1', 'grant.created g1']);
  });

  it('do not follow a redirect', async () => {
    const other = await startEventReceiver();
    try {
      const one = gate();
      receiver.answers(status(307, { location: `${other.upstream.url}/hook` }));
      await one.write(created('g1'));
      await one.settle();
      expect(other.upstream.requests).toHaveLength(0);
      expect(one.failed).toEqual(['307']);
      expect(await store.count('Event', 'client', 'grant')).toBe(1);
    } finally {
      await other.close();
    }
  });

  it('are kept but not sent after 410, until an operator retries them or the address changes', async () => {
    const one = gate();
    receiver.answers(status(410));
    await one.write(created('g1'));
    await one.settle();
    await one.write(created('g2'));
    receiver.answers(undefined);
    clock.advance(200);
    await gate().settle();
    expect(came()).toEqual(['grant.created g1']);
    expect(one.logged.at(-1)?.[0]).toBe('error');
    expect(await gate().retry()).toBe(2);
    await one.settle();
    expect(came()).toEqual(['grant.created g1', 'grant.created g2']);

    receiver.answers(status(410));
    await one.write(created('g3'));
    await one.settle();
    receiver.answers(undefined);
    await gate({ path: '/elsewhere' }).settle();
    expect(came()).toEqual(['grant.created g3', 'grant.created g3']);
  });

  it('that were postponed are sent at once when an operator retries them', async () => {
    const one = gate();
    receiver.answers(status(500));
    await one.write(created('g1'));
    await one.settle();
    receiver.answers(undefined);
    expect(await one.retry()).toBe(1);
    await one.settle();
    expect(came()).toEqual(['grant.created g1', 'grant.created g1']);
  });

  it('are sent by one replica at a time, each once', async () => {
    const replicas = [gate(), gate(), gate()];
    const ids = Array.from({ length: 30 }, (_, index) => `g${index}`);
    for (const [index, id] of ids.entries()) await replicas[index % 3]?.write(created(id));
    await Promise.all(replicas.map((one) => one.settle()));
    await Promise.all(replicas.map((one) => one.settle()));
    expect(came().toSorted()).toEqual(ids.map((id) => `grant.created ${id}`).toSorted());
  });

  it('are sent by another replica when the lease of a stopped one expires', async () => {
    const gone = storedLease(store, clock.now, 15);
    expect(await gone.take()).toBe(true);
    const one = gate();
    await one.write(created('g1'));
    await one.settle();
    expect(came()).toEqual([]);
    clock.advance(15);
    await one.settle();
    expect(came()).toEqual(['grant.created g1']);
  });

  it('are left to the other replica when a lease has changed hands', async () => {
    const [first, second] = [storedLease(store, clock.now, 15), storedLease(store, clock.now, 15)];
    expect(await first.take()).toBe(true);
    expect(await second.take()).toBe(false);
    clock.advance(15);
    expect(await second.take()).toBe(true);
    expect(await first.keep(3)).toBe(false);
    await first.giveBack();
    expect(await storedLease(store, clock.now, 15).take()).toBe(false);
  });

  it('are dropped when there are too many, cancelled sign-ins without a member before ended connections', async () => {
    const cancelled = (request: string, member?: string) =>
      consentDenied(request, { scopes: [], resources: [] }, { id: 'app', kind: 'registered' }, member);
    const one = gate({ maxPending: 2, url: 'http://127.0.0.1:1' });
    await one.write(revoked('a'), cancelled('1'), cancelled('2'), cancelled('3', 'm-1'));
    await one.settle();
    expect(one.dropped).toEqual([
      ['consent.denied', 'full'],
      ['consent.denied', 'full'],
    ]);
    expect(one.deliverer.waiting().events).toEqual({ refusal: 0, client: 2, grant: 2 });
    await one.settle();
    expect(one.deliverer.waiting().events).toEqual({ refusal: 0, client: 0, grant: 2 });
  });

  it('are dropped when there are too many: refusals first, then those of clients, then those of grants with an error each', async () => {
    const one = gate({ maxPending: 4, url: 'http://127.0.0.1:1' });
    const refusal = (reason: string) =>
      accessRefused(
        { reason, client: undefined, member: undefined, grantId: undefined, count: 1, firstAt: 0, lastAt: 0 },
        'replica 1',
      );
    await one.write(
      created('g1'),
      registered('c1'),
      refusal('invalid_token'),
      refusal('session_over'),
      registered('c2'),
    );
    await one.settle();
    expect(one.dropped).toEqual([['access.refused', 'full']]);
    // It is not sent now, and held to the bound all the same.
    await one.write(created('g2'), created('g3'));
    await one.settle();
    expect(one.dropped.slice(1)).toEqual([
      ['access.refused', 'full'],
      ['client.registered', 'full'],
    ]);
    expect(one.logged.filter(([level]) => level === 'error')).toEqual([]);
    await one.write(created('g4'), created('g5'));
    await one.settle();
    expect(one.dropped.slice(3)).toEqual([
      ['client.registered', 'full'],
      ['grant.created', 'full'],
    ]);
    expect(one.logged.filter(([level]) => level === 'error')).toEqual([
      ['error', expect.objectContaining({ event: 'grant.created', grant_id: 'g1', why: 'full' })],
    ]);
    await one.settle();
    expect(one.deliverer.waiting().events).toEqual({ refusal: 0, client: 0, grant: 4 });
  });

  it('are dropped after three days without a response, and the log names the grant', async () => {
    const one = gate({ url: 'http://127.0.0.1:1' });
    await one.write(created('g1'));
    await one.settle();
    clock.advance(3 * DAY - 1);
    await one.settle();
    expect(one.dropped).toEqual([]);
    clock.advance(1);
    await one.settle();
    expect(one.dropped).toEqual([['grant.created', 'old']]);
    expect(one.logged.some(([level, line]) => level === 'error' && 'grant_id' in line)).toBe(true);
  });

  it('are signed with both secrets during a rotation', async () => {
    const one = gate({ keys: [keyOf(EVENTS_SECRET), keyOf(OLD_SECRET)] });
    await one.write(created('g1'));
    await one.settle();
    const { body = '', fields = {} } = receiver.receipts.at(-1) ?? {};
    expect(fields['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [EVENTS_SECRET, OLD_SECRET]) {
      expect(new Webhook(secret).verify(body, fields)).toMatchObject({ type: 'grant.created' });
    }
  });

  it('are rejected by the reference library with another secret, body or timestamp', async () => {
    const one = gate();
    await one.write(created('g1'));
    await one.settle();
    const { body = '', fields = {} } = receiver.receipts.at(-1) ?? {};
    const webhook = new Webhook(EVENTS_SECRET);
    expect(webhook.verify(body, fields)).toMatchObject({ type: 'grant.created' });
    expect(() => new Webhook(OLD_SECRET).verify(body, fields)).toThrow('No matching signature');
    expect(() => webhook.verify(body.replace('m-1', 'm-2'), fields)).toThrow('No matching signature');
    expect(() => webhook.verify(body, { ...fields, 'webhook-id': 'msg_other' })).toThrow('No matching signature');

    clock.advance(-400);
    await one.write(created('old'));
    await one.settle();
    expect(one.failed).toEqual(['401']);
    clock.advance(400);
  });
});
