import { describe, expect, it } from 'vitest';
import type { ActiveToken, Introspection } from '../../src/oauth/introspection.ts';
import { cachedIntrospect } from '../../src/resource-server/cache.ts';
import { testClock } from '../storage/conformance.ts';

const ACTIVE: ActiveToken = {
  active: true,
  sub: 'm-1',
  clientId: 'c-1',
  scope: new Set(['courses:read']),
  aud: ['https://school.example'],
  exp: 1_900_000_000,
  grantId: 'g-1',
  jkt: undefined,
  details: {},
};

describe('the token cache', () => {
  const start = () => {
    const clock = testClock();
    const asked: PromiseWithResolvers<Introspection>[] = [];
    const cache = cachedIntrospect(() => {
      const answer = Promise.withResolvers<Introspection>();
      asked.push(answer);
      return answer.promise;
    }, clock.now);
    const ask = async (answer: Introspection) => {
      const before = asked.length;
      const result = cache.introspect('token');
      asked[before]?.resolve(answer);
      return result;
    };
    return { clock, cache, asked, ask };
  };

  it('accepts a valid token for five seconds before it checks again', async () => {
    const { clock, asked, ask } = start();
    await ask(ACTIVE);
    clock.advance(5);
    expect(await ask({ active: false })).toEqual(ACTIVE);
    clock.advance(0.001);
    expect(await ask({ active: false })).toEqual({ active: false });
    expect(asked).toHaveLength(2);
  });

  it('checks again when the clock was set back', async () => {
    const { clock, asked, ask } = start();
    await ask(ACTIVE);
    clock.advance(-3600);
    expect(await ask({ active: false })).toEqual({ active: false });
    expect(asked).toHaveLength(2);
  });

  it('never caches an invalid token, which may have just been issued', async () => {
    const { asked, ask } = start();
    await ask({ active: false });
    expect(await ask(ACTIVE)).toEqual(ACTIVE);
    expect(asked).toHaveLength(2);
  });

  it('is cleared on a revocation', async () => {
    const { cache, asked, ask } = start();
    await ask(ACTIVE);
    cache.clear();
    expect(await ask({ active: false })).toEqual({ active: false });
    expect(asked).toHaveLength(2);
  });

  it('does not cache a result that was requested before a revocation', async () => {
    const { cache, asked, ask } = start();
    const first = cache.introspect('token');
    cache.clear();
    asked[0]?.resolve(ACTIVE);
    await first;
    expect(await ask({ active: false })).toEqual({ active: false });
  });
});
