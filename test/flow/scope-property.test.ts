import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, introspect, redeem, registerApp } from '../support/app.ts';
import { SCOPES } from '../support/catalogue.ts';
import { approve, offeredScopes, reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const known = fc.constantFrom<string>(...SCOPES);
const glue = fc.constantFrom(' ', '  ', '\t', ',', '+', '\u00a0', '');
const almost = fc.oneof(
  known.map((token) => token.toUpperCase()),
  known.map((token) => token.slice(0, -1)),
  known.map((token) => `${token}x`),
  fc.constantFrom('*', 'openid"', 'offline_access', 'courses', 'courses:*', 'admin', '__proto__', 'constructor'),
);
/** From arbitrary text to almost valid values: known scopes, spelled and joined correctly or not. */
const sent = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 60 }),
  fc
    .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: known }, almost), glue), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.flat().join('')),
  fc.uniqueArray(known, { minLength: 1, maxLength: 8 }).map((tokens) => tokens.join(' ')),
);

/**
 * What the contract makes of it. Undefined means invalid_scope, also for an extra space (RFC 6749 section 3.3). An
 * empty value and offline_access alone mean the default.
 */
function meant(value: string): Set<string> | undefined {
  const tokens = new Set(value === '' ? [] : value.split(' ').filter((token) => token !== 'offline_access'));
  if (![...tokens].every((token) => (SCOPES as readonly string[]).includes(token))) return undefined;
  return tokens.size > 0 ? tokens : new Set(['openid', 'profile', 'email', 'account:read']);
}

describe('any scope parameter', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    // A loopback redirect URI, so that errors are redirected to it.
    app = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1:5123/callback' });
  });
  afterAll(() => world.close());

  it('is refused with invalid_scope unless all of it is known', async () => {
    await fc.assert(
      fc.asyncProperty(sent, async (scope) => {
        const { url } = await authorizationRequest(app, { scope });
        const answer = await fetch(url, { redirect: 'manual' });
        const location = new URL(answer.headers.get('location') ?? '', world.origin);
        const expected = meant(new URL(url).searchParams.get('scope') ?? '') === undefined ? 'invalid_scope' : null;
        expect({ status: answer.status, error: location.searchParams.get('error') }).toEqual({
          status: 303,
          error: expected,
        });
        expect(location.pathname).toMatch(expected === null ? /^\/oauth\/interaction\// : /^\/callback$/);
        expect(location.searchParams.has('code')).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('yields a token with exactly the ticked scopes, and openid if requested, in the response and in introspection', async () => {
    const asked = fc.uniqueArray(known, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(asked, fc.uniqueArray(known, { maxLength: 6 }), async (scopes, ticks) => {
        const offered = scopes.filter((token) => token !== 'openid');
        // An app that is connected already is not asked again for what it has.
        const app = await registerApp(world.origin);
        // At least one box, plus values that were not offered: they grant nothing.
        const ticked = [...new Set([...offered.slice(0, 1), ...ticks])];
        const granted = new Set(scopes.filter((token) => token === 'openid' || ticked.includes(token)));
        const request = await authorizationRequest(app, { scope: scopes.join(' ') });
        expect(offeredScopes((await reachConsent(request.url)).page).toSorted()).toEqual(offered.toSorted());
        const returned = await approve(request.url, app.redirectUri, { scopes: ticked });
        const tokens = await redeem(app, request, returned);
        expect(new Set(tokens.scope?.split(' '))).toEqual(granted);
        const { scope } = await introspect(app, tokens.access_token);
        expect(new Set(scope?.split(' '))).toEqual(granted);
      }),
      { numRuns: 25 },
    );
  });
});
