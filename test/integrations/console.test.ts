import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignInWorld, startSignIn } from '../login/support/sign-in.ts';
import { type App, bearer } from '../support/app.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { refreshForm, token } from '../support/connection.ts';
import { freePort } from '../support/world.ts';
import { applicationFile, type Backend, frameworkPresent, OLU, SAM, startBackend } from './contract/backend.ts';
import { DJANGO, DJANGO_STUDENTS, LARAVEL, RAILS } from './contract/frameworks.ts';

const LONGEST = 240_000;

/** Each with a setting without which the drop-in cannot work. Rails reads its settings where the site starts. */
const SITES = [
  {
    framework: DJANGO,
    rules: { success: { status: [302], cookie: 'sessionid' } },
    without: 'COURSEGATE_BRIDGE_SECRET',
  },
  {
    framework: DJANGO_STUDENTS,
    rules: { success: { status: [302], cookie: 'sessionid' } },
    without: 'COURSEGATE_BRIDGE_SECRET',
  },
  { framework: RAILS, rules: { success: { status: [302, 303], notLocation: '/login' } }, without: undefined },
  {
    framework: LARAVEL,
    rules: { success: { status: [302], notLocation: '/login' }, failure: { body: '^wrong$' } },
    without: 'COURSEGATE_BRIDGE_SECRET',
  },
] as const;

describe.each(SITES)('$framework.name, changed from the command line', ({ framework, rules, without }) => {
  describe.skipIf(!frameworkPresent(framework))('behind a gate', () => {
    const fields = framework.fields ?? { username: 'username', password: 'password' };
    const typed = (member: typeof SAM | typeof OLU) =>
      fields.username.includes('email') ? member.email : member.username;
    let site: Backend;
    let gate: SignInWorld;
    let password: string = SAM.password;
    beforeAll(async () => {
      const adminPort = await freePort();
      const origin = `http://localhost:${await freePort()}`;
      site = await startBackend(framework, {
        ...{ origin, upstream: 'old', secret: 'between gate and school, 32 or more', jwksUrl: `${origin}/jwks` },
        ...{ admin: `http://127.0.0.1:${adminPort}`, adminSecret: COMMAND_SECRET },
      });
      gate = await startSignIn(
        {
          ...{ kind: 'form', upstream: 'old', page: '/login', fields, ...rules, timeout: '60s' },
          whoami: { path: '/probe', subject: '/member', anonymous: { values: [null] } },
          attempts: { address: 'unlimited' },
        },
        {
          environment: { COMMAND_SECRET, ADMIN_PORT: String(adminPort) },
          overrides: {
            admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
            upstreams: { old: { url: site.url, timeout: '60s', breaker: { failures: 0 } } },
          },
        },
      );
    }, LONGEST);
    afterAll(async () => {
      await gate?.close();
      await site?.close();
    });

    const whoIs = async (accessToken: unknown) =>
      (await fetch(`${gate.world.origin}/api/oauth/userinfo`, { headers: bearer(String(accessToken)) })).status;
    const refresh = async ({ app, tokens }: { app: App; tokens: Record<string, unknown> }) =>
      (await token(app, refreshForm(app, String(tokens.refresh_token)))).status;

    it.each(Object.entries(framework.console ?? {}))(
      'a new password by %s ends that member’s access at the next request and refresh, and no other’s',
      async (name, command) => {
        const [connected, other] = [
          await gate.connect(typed(SAM), password),
          await gate.connect(typed(OLU), OLU.password),
        ];
        expect(await whoIs(connected.tokens.access_token)).toBe(200);
        const fresh = `a new one by ${name}`.replaceAll(/\W/g, ' ');
        const { command: line, ...given } = command(applicationFile, SAM.username, fresh);
        const { code, output } = await site.run(line, given);
        expect([code, output]).toEqual([0, expect.not.stringContaining('coursegate:')]);
        password = fresh;
        expect(await whoIs(connected.tokens.access_token)).toBe(401);
        expect(await refresh(connected)).toBe(400);
        expect(await whoIs(other.tokens.access_token)).toBe(200);
        expect(await refresh(other)).toBe(200);
        expect(await whoIs((await gate.connect(typed(SAM), fresh)).tokens.access_token)).toBe(200);
      },
      LONGEST,
    );

    it.skipIf(without === undefined).each(Object.entries(framework.console ?? {}))(
      'a new password by %s is saved without the drop-in’s settings, and the log says what is missing',
      async (name, command) => {
        const fresh = `without settings by ${name}`.replaceAll(/\W/g, ' ');
        const { command: line, ...given } = command(applicationFile, SAM.username, fresh);
        const environment = { [String(without)]: '' };
        const { code, output } = await site.run(line, { ...given, environment });
        expect([code, output]).toEqual([0, expect.stringMatching(/coursegate:.* must have 32 characters or more/i)]);
        password = fresh;
        expect(await whoIs((await gate.connect(typed(SAM), fresh)).tokens.access_token)).toBe(200);
      },
      LONGEST,
    );
  });
});

describe.skipIf(!frameworkPresent(RAILS))('a hook of the Rails drop-in that fails', () => {
  let site: Backend;
  beforeAll(async () => {
    const [origin, upstream, secret] = ['http://localhost:9', 'rails', 'between gate and school, 32 or more'];
    site = await startBackend(RAILS, { origin, upstream, secret, jwksUrl: `${origin}/jwks` });
  }, LONGEST);
  afterAll(() => site?.close());

  it(
    'is logged, and the member is saved',
    async () => {
      const code = `Coursegate.instance_variable_set(:@settings, nil)
sam = User.find_by(username: 'sam')
sam.update!(password: 'another horse altogether')
puts "saved: #{sam.reload.valid_password?('another horse altogether')}"`;
      const { code: status, output } = await site.run(['ruby', applicationFile('rails.rb'), 'runner', code]);
      expect([status, output]).toEqual([0, expect.stringContaining('coursegate: NoMethodError')]);
      expect(output).toContain('saved: true');
    },
    LONGEST,
  );
});
