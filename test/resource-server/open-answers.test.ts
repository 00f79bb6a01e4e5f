import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withinRequest } from '../../src/http/current-request.ts';
import { RequestsInFlight, requestOf } from '../../src/http/requests-in-flight.ts';
import type { ActiveToken, Introspection } from '../../src/oauth/introspection.ts';
import { createOpenAnswers, type OpenAnswers } from '../../src/resource-server/open-answers.ts';
import { inTime } from '../../src/storage/patience.ts';

const EXPIRES = 1_900_000_000;
const PRINCIPAL = {
  kind: 'member',
  sub: 'm-1',
  details: {},
  scope: new Set(['courses:read']),
  clientId: 'c-1',
  grantId: 'g-1',
} as const;
const ACTIVE: ActiveToken = { ...PRINCIPAL, active: true, aud: [], exp: EXPIRES, jkt: undefined };
const PATIENCE = { timeout: 20_000, interval: 10 };

describe('responses in progress', () => {
  const server = createServer();
  let now = 0;
  let asked = 0;
  let answer: () => Promise<Introspection> | Introspection;
  let cut = 0;
  let inFlight: RequestsInFlight;
  let open: OpenAnswers;
  let leaving: (() => void)[] = [];
  beforeEach(async () => {
    now = (EXPIRES - 1000) * 1000;
    asked = 0;
    cut = 0;
    answer = () => ACTIVE;
    if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    inFlight = new RequestsInFlight();
    open = createOpenAnswers({
      inFlight,
      introspect: () => {
        asked += 1;
        return answer();
      },
      isActive: async () => true,
      clock: () => now,
      onCut: (count) => {
        cut += count;
      },
    });
  });
  afterEach(async () => {
    open.close();
    for (const leave of leaving) leave();
    leaving = [];
    await new Promise((resolve) => server.close(resolve));
  });

  /** A real response that has begun. */
  const begin = async (): Promise<ServerResponse> => {
    const arrived = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
    const request = get({ port: (server.address() as AddressInfo).port, agent: false });
    request.on('error', () => undefined);
    request.on('response', (response) => response.on('error', () => undefined).resume());
    leaving.push(() => request.destroy());
    const [incoming, response] = await arrived;
    inFlight.begin(server, incoming, response);
    response.write('begun');
    return response;
  };
  const held = async (before = open.revocations()) => {
    const response = await begin();
    const token = { authorization: ['Bearer t'], principal: PRINCIPAL, expires: EXPIRES, doubted: undefined };
    open.hold(requestOf(response), token, before);
    return response;
  };

  it('are checked again if a revocation happened while their token was being checked', async () => {
    const before = open.revocations();
    open.revoked();
    answer = () => ({ active: false });
    const response = await held(before);
    await expect.poll(() => response.destroyed, PATIENCE).toBe(true);
    expect(cut).toBe(1);
  });

  it('are checked once for many revocations', async () => {
    const response = await held();
    for (let round = 0; round < 1000; round += 1) open.revoked();
    await expect.poll(() => asked, PATIENCE).toBe(1);
    answer = () => ({ active: false });
    open.revoked();
    await expect.poll(() => response.destroyed, PATIENCE).toBe(true);
    expect(asked).toBe(2);
  });

  it('continue for five seconds while the store is unavailable, and no longer', async () => {
    answer = () => Promise.reject(new Error('the store is ill'));
    const response = await held();
    open.revoked();
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(0);
    now += 4900;
    const before = asked;
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(before + 1);
    expect(response.destroyed).toBe(false);
    now += 200;
    await expect.poll(() => response.destroyed, PATIENCE).toBe(true);
  });

  it('are checked with a time limit of their own, even if the request that revoked has waited for the store in vain', async () => {
    let looked = 0;
    answer = () =>
      inTime(async () => {
        looked += 1;
        return ACTIVE;
      });
    const response = await held();
    await withinRequest({ provenance: {} as never, userAgent: '' }, async () => {
      // The second call finds that nothing is left: a timer may end a fraction of a millisecond early.
      for (let call = 0; call < 2; call += 1) await inTime(() => new Promise<never>(() => {})).catch(() => undefined);
      open.revoked();
    });
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(0);
    expect(looked).toBe(1);
    expect(response.destroyed).toBe(false);
  });

  it('continue once the store is available again and their token is still valid', async () => {
    answer = () => Promise.reject(new Error('the store is ill'));
    const response = await held();
    open.revoked();
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(0);
    answer = () => ACTIVE;
    const before = asked;
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(before);
    now += 60_000;
    // The next failure starts another five seconds.
    answer = () => Promise.reject(new Error('the store is ill'));
    open.revoked();
    const later = asked;
    await expect.poll(() => asked, PATIENCE).toBeGreaterThan(later + 1);
    expect(response.destroyed).toBe(false);
  });

  it('are not counted as cut off if they ended while their token was being checked', async () => {
    const [ended, response] = [await held(), await held()];
    let judged = () => {};
    const pending = new Promise<void>((resolve) => {
      judged = resolve;
    });
    answer = async () => {
      await pending;
      return { active: false };
    };
    open.revoked();
    await expect.poll(() => asked, PATIENCE).toBe(2);
    const closed = once(ended, 'close');
    ended.end();
    await closed;
    judged();
    await expect.poll(() => cut, PATIENCE).toBeGreaterThan(0);
    expect([cut, response.destroyed]).toEqual([1, true]);
  });

  it('are no longer checked after they have ended', async () => {
    const [ended, response] = [await held(), await held()];
    const closed = once(ended, 'close');
    ended.end();
    await closed;
    open.revoked();
    await expect.poll(() => asked, PATIENCE).toBe(1);
    expect(response.destroyed).toBe(false);
  });
});
