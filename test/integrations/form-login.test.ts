import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignInWorld, startSignIn } from '../login/support/sign-in.ts';
import { freePort } from '../support/world.ts';
import { type Backend, frameworkPresent, OLU, SAM, startBackend } from './contract/backend.ts';
import { DJANGO, LARAVEL, RAILS } from './contract/frameworks.ts';

const LONGEST = 240_000;

/** As in docs/login/form.md, except for the paths of the test applications. */
const SITES = [
  { framework: DJANGO, success: { status: [302], cookie: 'sessionid' } },
  { framework: RAILS, success: { status: [302, 303], notLocation: '/login' } },
  { framework: LARAVEL, success: { status: [302], notLocation: '/login' }, failure: { body: '^wrong$' } },
] as const;

describe.each(SITES)('the login form of $framework.name', ({ framework, ...rules }) => {
  describe.skipIf(!frameworkPresent(framework))('submitted by the gate', () => {
    const fields = framework.fields ?? { username: 'username', password: 'password' };
    const typed = (member: typeof SAM | typeof OLU) =>
      fields.username.includes('email') ? member.email : member.username;
    let site: Backend;
    let gate: SignInWorld;
    beforeAll(async () => {
      const origin = `http://localhost:${await freePort()}`;
      const secret = 'between gate and school, 32 or more';
      site = await startBackend(framework, { origin, upstream: 'old', secret, jwksUrl: `${origin}/jwks` });
      gate = await startSignIn(
        {
          kind: 'form',
          upstream: 'old',
          page: '/login',
          fields,
          ...rules,
          whoami: { path: '/probe', subject: '/member', anonymous: { values: [null] } },
          timeout: '60s',
          attempts: { address: 'unlimited' },
        },
        { overrides: { upstreams: { old: { url: site.url, timeout: '60s', breaker: { failures: 0 } } } } },
      );
    }, LONGEST);
    afterAll(async () => {
      await gate?.close();
      await site?.close();
    });

    it.each([SAM, OLU])(
      'signs in $username with cookies, a CSRF token, Origin and Referer, as a browser would',
      async (member) => {
        const { tokens } = await gate.connect(typed(member), member.password);
        const who = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
          headers: { authorization: `Bearer ${tokens.access_token}` },
        });
        expect(await who.json()).toMatchObject({ sub: member.id });
      },
      LONGEST,
    );

    it(
      'refuses a wrong password and an unknown username',
      async () => {
        for (const [name, password] of [
          [typed(SAM), OLU.password],
          [`${typed(SAM)}x`, SAM.password],
          ['nobody@example.com', 'x'],
        ] as const) {
          const page = await gate.attempt(name, password);
          expect(page.status).toBe(400);
          expect(page.text).toContain('id="problem"');
        }
      },
      LONGEST,
    );
  });
});
