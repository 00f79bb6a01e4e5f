import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { registerApp } from '../../support/app.ts';
import { startChaosProxy } from '../../support/chaos-proxy.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../../support/connection.ts';
import { startWorld } from '../../support/world.ts';
import { PAIRS } from './pairs.ts';
import { ready, SERVERS } from './servers.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
const kept = <T extends { close(): unknown }>(opened: T): T => {
  closing.push(() => opened.close());
  return opened;
};

describe.each(PAIRS)('a gate on $name', ({ start }) => {
  it('loses no acknowledged refresh when a replica takes over, and acknowledges none that the replica does not have', async () => {
    const pair = kept(await start());
    // An address that follows the primary.
    const address = { path: pair.primary };
    const proxy = kept(await startChaosProxy(address));
    const url = pair.url(proxy.port);
    await ready(pair, url);
    const world = kept(
      await startWorld({
        profile: 'A',
        environment: { DATABASE_URL: url, COURSEGATE_SECRET: 'k'.repeat(32) },
        overrides: {
          store: { kind: pair.kind, url: { env: 'DATABASE_URL' } },
          secret: { env: 'COURSEGATE_SECRET' },
          limits: { address: 'unlimited', client: 'unlimited', member: 'unlimited' },
        },
      }),
    );
    const app = await registerApp(world.origin);
    const connections: Tokens[] = [];
    while (connections.length < 4) connections.push((await connect(app)) as unknown as Tokens);

    const accessTokens: string[] = [];
    const others: unknown[] = [];
    let unavailable = 0;
    let refreshing = true;
    const refresh = async (tokens: Tokens): Promise<Tokens> => {
      if (!refreshing) return tokens;
      const { status, body } = await token(app, refreshForm(app, tokens.refresh_token));
      if (status === 200) {
        accessTokens.push(body.access_token);
        return refresh(body);
      }
      if (status === 503) unavailable += 1;
      else others.push(body);
      await sleep(20);
      return refresh(tokens);
    };
    const running = Promise.all(connections.map(refresh));
    const count = () => accessTokens.length;
    const counts = (what: () => number, more: number) =>
      expect.poll(what, { timeout: 30_000 }).toBeGreaterThan(what() + more);

    await counts(count, 50);
    pair.link.blackhole();
    // What was on its way.
    await sleep(500);
    const before = count();
    await counts(() => unavailable, 8);
    await pair.kill();
    // The replica is refused until it is promoted.
    address.path = pair.replica;
    await counts(() => unavailable, 20);
    expect(count()).toBe(before);
    await pair.promote();
    await counts(count, 50);
    refreshing = false;
    const last = await running;

    expect(others).toEqual([]);
    const statuses = new Map<number, number>();
    // Repeats a 503, as clients do: a pooled connection to the old primary can turn out to be dead at its next use.
    const settled = async (ask: () => Promise<number>, tries = 20): Promise<number> => {
      const status = await ask();
      if (status !== 503 || tries === 1) return status;
      await sleep(200);
      return settled(ask, tries - 1);
    };
    for (const one of accessTokens) {
      const status = await settled(() => statusOf(world.origin, one));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([[200, accessTokens.length]]);
    for (const { refresh_token } of last)
      expect(await settled(async () => (await token(app, refreshForm(app, refresh_token))).status)).toBe(200);
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
