import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

describe('a consent page that is submitted twice', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  /** The number of grants that the member has, read from the store while the gate has closed it. */
  const grantsOf = async (member: string) => {
    const { store } = await openStore(
      { kind: 'sqlite', path: join(world.data, 'coursegate.db') },
      { secret: undefined, redis: undefined },
      Date.now,
    );
    const grants = await store.findBy('Grant', 'member', member);
    await store.close();
    return grants.length;
  };

  it('creates one grant, and redirects the browser to the same place both times', async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app);
    const { browser, page } = await reachConsent(request.url);
    const stay = () => false;
    const fields = { decision: 'approve', scope: ['courses:read'] };
    const first = await browser.submit(page, fields, stay);
    const second = await browser.submit(page, fields, stay);
    expect(second.location).toBe(first.location);
    expect(await world.whileStopped(() => grantsOf('m-1001'))).toBe(1);
    const last = await browser.open(String(first.location), (location) => !location.startsWith(app.redirectUri));
    expect((await redeem(app, request, new URL(String(last.location)))).scope).toBe('openid courses:read');
  });
});
