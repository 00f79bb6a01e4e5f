import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND_SECRET, type CommandOptions, command, commandSignature, send } from '../../support/commands.ts';
import { startWorld, type World } from '../../support/world.ts';

const OLD_SECRET = 'the-secret-before-which-goes-on-for-a-while';
const HMAC = { hmac: { secret: { env: 'COMMAND_SECRET' }, previous: { env: 'OLD_SECRET' } } };
const PATH = '/members/m-1001/revoke';

describe('a signed command', () => {
  const START = Date.UTC(2026, 0, 1);
  let now = START;
  const time = () => Math.floor(now / 1000);
  let world: World;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      clock: () => now,
      environment: { COMMAND_SECRET, OLD_SECRET },
      overrides: { admin: HMAC },
    });
  });
  afterAll(() => world.close());
  // Failed attempts are counted per minute.
  beforeEach(() => {
    now += 120_000;
  });

  const sent = (options: CommandOptions = {}) => command(world.admin, PATH, { time: time(), ...options });
  const shown = (field: string) => send(world.admin, PATH, {}, { 'coursegate-signature': field });

  it('is accepted with either of two secrets, and with no other', async () => {
    for (const secret of [COMMAND_SECRET, OLD_SECRET]) expect((await sent({ secret })).status).toBe(200);
    for (const secret of ['', `${COMMAND_SECRET} `, COMMAND_SECRET.toUpperCase()]) {
      const { status, headers, body } = await sent({ secret });
      expect([status, headers.get('content-type')]).toEqual([401, 'application/problem+json']);
      expect(headers.get('www-authenticate')).toBe('Coursegate-Signature');
      expect(body).toMatchObject({ code: 'unauthorized', status: 401 });
    }
  });

  it.each([
    ['another path', { signedPath: '/members/m-1002/revoke' }],
    ['another spelling of the path', { signedPath: '/members/m%2D1001/revoke' }],
    ['another method', { signedMethod: 'GET' }],
    ['another body', { body: '{"reason":"a"}', signedBody: '{"reason":"b"}' }],
    ['a body that was not sent', { signedBody: '{}' }],
  ] as const)('is refused when it was signed for %s', async (_what, options) => {
    expect((await sent(options)).status).toBe(401);
  });

  it.each([
    [-300, 200],
    [300, 200],
    [-301, 401],
    [301, 401],
    [-100_000, 401],
  ])('with a timestamp %i seconds from now gets %i', async (seconds, status) => {
    const answer = await sent({ time: time() + seconds });
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.body.title).toContain(String(time()));
  });

  it('is accepted once, whatever its timestamp, and after a restart too', async () => {
    const early = commandSignature(PATH, { time: time() + 300 });
    const field = commandSignature(PATH, { time: time() });
    for (const one of [early, field]) expect((await shown(one)).status).toBe(200);
    for (const one of [early, field]) {
      const again = await shown(one);
      expect([again.status, again.body.title]).toEqual([401, expect.stringContaining('already used')]);
    }
    await world.restart();
    expect((await shown(field)).status).toBe(401);
    // The last moment at which its timestamp would still be accepted.
    now += 600_000;
    expect((await shown(early)).body.title).toContain('already used');
  });

  it.each([
    ['nothing', undefined],
    ['an empty field', ''],
    ['no nonce', (field: string) => field.replace(/n=[^,]+,/, '')],
    ['a short nonce', (field: string) => field.replace(/n=[^,]+,/, 'n=abc,')],
    ['an invalid time', (field: string) => field.replace(/t=\d+/, 't=now')],
    ['a time with a sign', (field: string) => field.replace(/t=/, 't=-')],
    ['upper case', (field: string) => field.toUpperCase()],
    ['a truncated signature', (field: string) => field.slice(0, -32)],
    ['trailing characters', (field: string) => `${field},v1=00`],
    ['two signatures', (field: string) => `${field}, ${field}`],
  ] as const)('is refused with %s, and the response names the header', async (_what, change) => {
    const field = commandSignature(PATH, { time: time() });
    const headers: Record<string, string> =
      change === undefined ? {} : { 'coursegate-signature': typeof change === 'string' ? change : change(field) };
    const { status, body } = await send(world.admin, PATH, {}, headers);
    expect(status).toBe(401);
    expect(body.title).toContain('Coursegate-Signature');
  });

  it('is accepted after any number of wrong ones from its address, which get 429', async () => {
    const statuses = new Set<number>();
    for (let at = 0; at < 30; at += 1) statuses.add((await sent({ secret: 'wrong' })).status);
    expect([...statuses]).toEqual([401]);
    const { status, headers } = await sent({ secret: 'wrong' });
    expect(status).toBe(429);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await sent()).status).toBe(200);
    now += 61_000;
    expect((await sent({ secret: 'wrong' })).status).toBe(401);
  });
});

describe('a gate with neither a secret nor a client CA', () => {
  it('accepts no command, even from the same machine, and names the missing settings', async () => {
    const world = await startWorld({ profile: 'A' });
    try {
      for (const [path, method] of [
        [PATH, 'POST'],
        ['/members/m-1001', 'GET'],
        ['/clients/x/revoke', 'POST'],
      ] as const) {
        const { status, body } = await command(world.admin, path, { method });
        expect(status).toBe(403);
        expect(body.title).toContain('admin.hmac');
        expect(body.title).toContain('admin.mtls');
      }
      for (const path of ['/livez', '/readyz', '/metrics']) expect((await fetch(world.admin + path)).status).toBe(200);
    } finally {
      await world.close();
    }
  });
});
