import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, startConsoleWorld } from '../operator/console/support/console.ts';
import { operate, runToEnd } from '../support/operator.ts';
import type { World } from '../support/world.ts';

describe('coursegate console', () => {
  let world: World;
  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  afterAll(() => world.close());

  it('prints a link that opens the console once, under a name of its own', async () => {
    const { code, stdout, stderr } = await operate(world, 'console', '--no-browser');
    expect([code, stdout.split('\n')]).toEqual([
      0,
      [expect.stringMatching(/^http:\/\/console-[0-9a-f]{20}\.localhost:\d+\/console\/sign-in\?link=/), ''],
    ]);
    expect(stderr).toContain('The link works once, within a minute.');
    expect(stderr).toContain(`sign in with the secret at ${world.admin}/console`);
    const { port, pathname, search, searchParams, host } = new URL(stdout.trim());
    expect(port).toBe(new URL(world.admin).port);
    expect((await ask(world.admin, pathname + search, { headers: { host } })).status).toBe(200);
    const form = { link: searchParams.get('link') ?? '' };
    const entered = await ask(world.admin, pathname, { method: 'POST', form });
    expect([entered.status, entered.location]).toEqual([303, '/console']);
    expect((await ask(world.admin, pathname, { method: 'POST', form })).status).toBe(401);
  });

  it('without the secret, leads to the form', async () => {
    const { code, stdout, stderr } = await runToEnd(['console', '--no-browser', '--admin', world.admin]);
    expect([code, stdout]).toEqual([0, `${world.admin}/console\n`]);
    expect(stderr).toContain('Sign in there with the secret of admin.hmac');
  });

  it('exits with 1 when the secret differs, and with 69 when no gate answers', async () => {
    const other = await startConsoleWorld({
      environment: { COMMAND_SECRET: 'another-secret-of-more-than-32-characters' },
    });
    const refused = await operate({ admin: other.admin, data: world.data }, 'console', '--no-browser');
    await other.close();
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('The gate refused the link.');
    const gone = await operate({ admin: other.admin, data: world.data }, 'console', '--no-browser');
    expect([gone.code, gone.stdout]).toEqual([69, '']);
  });
});
