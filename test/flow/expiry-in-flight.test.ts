import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, registerApp } from '../support/app.ts';
import { approved, connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

/** More clock reads than a token request ever makes. */
const MANY = 40;

describe('a credential that expires while it is exchanged', () => {
  let world: World;
  let app: App;
  /** The clock read at which the time jumps ahead by 130 seconds. */
  let leapAt = 0;
  let looks = 0;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      schoolClock: () => Date.now(),
      clock: () => {
        looks += 1;
        if (looks === leapAt) vi.setSystemTime(Date.now() + 130_000);
        return Date.now();
      },
      overrides: { tokens: { access: '60s', refresh: '60s', refreshAbsolute: '60s' } },
    });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());
  afterEach(() => {
    leapAt = 0;
    vi.useRealTimers();
  });

  it.each([
    { what: 'code', prepare: async () => (await approved(app)).form },
    {
      what: 'refresh token',
      prepare: async () => refreshForm(app, ((await connect(app)) as unknown as Tokens).refresh_token),
    },
  ])('is either exchanged or refused, if it is a $what, wherever in the request it expires', async ({ prepare }) => {
    const seen = new Set<number>();
    for (let at = 1; at <= MANY; at += 1) {
      const form = await prepare();
      vi.useFakeTimers({ toFake: ['Date'] });
      looks = 0;
      leapAt = at;
      const { status, body } = await token(app, form);
      const leapt = looks >= at;
      leapAt = 0;
      vi.useRealTimers();
      if (status !== 200) expect([status, body.error], `at look ${at}`).toEqual([400, 'invalid_grant']);
      // It expired; it was not used twice.
      expect(body.error_description ?? '').not.toContain('used before');
      seen.add(status);
      // From here on the request finishes before the jump.
      if (!leapt) break;
      expect(at).toBeLessThan(MANY);
    }
    expect(seen).toEqual(new Set([200, 400]));
  });
});
