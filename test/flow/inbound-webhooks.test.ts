import { createHmac } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { type App, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect, statusOf } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

const SECRET = 'the secret of the platform, 32 or more';
const OTHER = 'the secret of another webhook, as long';
const SAM = 'm-1001';

const hmac = (text: string | Buffer, encoding: 'hex' | 'base64' = 'hex', secret = SECRET) =>
  createHmac('sha256', secret).update(text).digest(encoding);

describe('the webhooks of a platform', () => {
  let folder: string;
  let descriptor: number;
  let world: World;
  let app: App;
  /** Milliseconds by which the gate's clock is ahead. */
  let ahead = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-webhooks-'));
    descriptor = openSync(join(folder, 'log'), 'a');
    const webhook = { secret: { env: 'LMS_SECRET' }, member: '/user/id', event: 'revoke' };
    const meanings = { 'user.deleted': 'revoke', banned: 'suspend', 7: 'resume', true: 'resume' };
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      log: createLog('info', descriptor),
      environment: { COMMAND_SECRET, LMS_SECRET: SECRET, OTHER_SECRET: OTHER },
      overrides: {
        admin: {
          hmac: { secret: { env: 'COMMAND_SECRET' } },
          webhooks: {
            lms: webhook,
            lists: { ...webhook, member: '/users/0/id' },
            forms: { ...webhook, member: '/user[id]' },
            accounts: { ...webhook, event: { '/type': meanings } },
            other: { ...webhook, secret: { env: 'OTHER_SECRET' } },
          },
        },
      },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });
  // Another minute has other limits.
  beforeEach(() => {
    ahead += 61_000;
  });

  interface Sent {
    readonly name?: string;
    readonly body?: string | Buffer;
    readonly headers?: Record<string, string>;
    readonly method?: string;
  }
  const send = async ({ name = 'lms', body = about(SAM), headers, method = 'POST' }: Sent = {}) => {
    const signed = headers ?? { 'x-signature': hmac(body) };
    const init = method === 'GET' ? { method } : { method, body: new Uint8Array(Buffer.from(body)) };
    const answer = await fetch(`${world.admin}/webhooks/${name}`, { ...init, headers: signed });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  const about = (id: unknown, more: object = {}) => JSON.stringify({ user: { id }, ...more });
  const log = () =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const stateOf = async (id = SAM) => (await command(world.admin, `/members/${id}`, timed('GET'))).body.state;
  const timed = (method = 'POST') => ({ method, time: Math.floor((Date.now() + ahead) / 1000) });

  it('ends what the member has connected, with the audit lines of the command', async () => {
    const { access_token } = await connect(app);
    expect(await statusOf(world.origin, access_token)).toBe(200);
    const before = log().length;
    const { status, body, headers } = await send();
    expect([status, body, headers.get('cache-control')]).toEqual([200, { id: SAM, ended: 1 }, 'no-store']);
    expect(await statusOf(world.origin, access_token)).toBe(401);
    const lines = log().slice(before);
    expect(lines.map((line) => line['event.action'])).toEqual(
      expect.arrayContaining(['grant_ended', 'member_revoked']),
    );
    expect(lines.find((line) => line['event.action'] === 'member_revoked')).toMatchObject({
      'event.reason': 'webhook lms',
      'coursegate.by': 'backend',
      'user.id': SAM,
      'source.address': '127.0.0.1',
    });
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    // Twice ends nothing more.
    expect((await send()).body).toEqual({ id: SAM, ended: 0 });
  });

  const BODY = about(7, { name: 'Zoë' });
  const stamped = (time: number, body = BODY) => hmac(`${time}.${body}`);
  it.each<[string, Record<string, string>]>([
    ['as GitHub signs', { 'x-hub-signature-256': `sha256=${hmac(BODY)}` }],
    ['in bare hexadecimal', { 'x-thing-hmac-sha256': hmac(BODY) }],
    ['in capitals', { 'x-signature': hmac(BODY).toUpperCase() }],
    ['as WooCommerce and Frappe sign', { 'x-wc-webhook-signature': hmac(BODY, 'base64') }],
    ['in Base64 with a prefix', { 'x-signature': `sha256=${hmac(BODY, 'base64')}` }],
    ['as Stripe signs', { 'stripe-signature': `t=1767225600,v1=${stamped(1767225600)},v0=${'0'.repeat(64)}` }],
    ['as Stripe signs with two secrets', { 'x-s': `t=1767225600,v1=${'0'.repeat(64)},v1=${stamped(1767225600)}` }],
    ['as LifterLMS signs, in another zone', { 'x-llms-webhook-signature': `t=946684800,v1=${stamped(946684800)}` }],
    ['by the secret', { 'x-webhook-secret': SECRET }],
    ['by the secret as a bearer token', { authorization: `Bearer ${SECRET}` }],
  ])('are proven %s', async (_name, headers) => {
    expect(await send({ body: BODY, headers })).toMatchObject({ status: 200, body: { id: '7', ended: 0 } });
  });

  it.each<[string, Record<string, string>]>([
    ['without a proof', {}],
    ['with an empty signature', { 'x-signature': '' }],
    ['signed with the secret of another webhook', { 'x-signature': hmac(BODY, 'hex', OTHER) }],
    ['proven by the secret of another webhook', { 'x-webhook-secret': OTHER }],
    ['with the signature of another body', { 'x-signature': hmac(`${BODY} `) }],
    ['with a signature that is cut short', { 'x-signature': hmac(BODY).slice(0, 62) }],
    ['with a longer signature', { 'x-signature': `${hmac(BODY)}00` }],
    ['with another prefix', { 'x-signature': `sha1=${hmac(BODY)}` }],
    ['with the digest of the body', { 'x-signature': 'a'.repeat(64) }],
    [
      'with the right signature after four stamped ones, each of which costs a pass over the body',
      {
        ...Object.fromEntries([1, 2, 3, 4].map((n) => [`x-a${n}`, `t=${n},v1=${'0'.repeat(64)}`])),
        'x-b': `t=1767225600,v1=${stamped(1767225600)}`,
      },
    ],
    ['stamped with another time', { 'x-signature': `t=1767225601,v1=${stamped(1767225600)}` }],
    ['stamped, and signed without the time', { 'x-signature': `t=1767225600,v1=${hmac(BODY)}` }],
    ['signed with the time, and not stamped', { 'x-signature': stamped(1767225600) }],
    ['signed as a command of the backend', { 'coursegate-signature': 't=1767225600,n=0123456789abcdef,v1=00' }],
  ])('are refused %s', async (_name, headers) => {
    const before = log().length;
    const answer = await send({ body: BODY, headers });
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
    expect(answer.headers.get('www-authenticate')).toBe('Coursegate-Webhook');
    expect(log().slice(before)).toEqual([expect.objectContaining({ 'event.action': 'command_refused' })]);
  });

  it('are refused with 429 after 30 refusals in a minute, while proven ones are accepted', async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent < 31; sent += 1) statuses.push((await send({ headers: {} })).status);
    expect(statuses).toEqual([...Array<number>(30).fill(401), 429]);
    expect((await send()).status).toBe(200);
  });

  it('may have a form as the body', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
    const sent = async (body: string) =>
      (await send({ name: 'forms', body, headers: { ...form, 'x-signature': hmac(body) } })).body;
    expect(await sent('a=1&user%5Bid%5D=m-7&b=2')).toEqual({ id: 'm-7', ended: 0 });
    expect(await sent('user[id]=m-7&user[id]=m-8')).toEqual({ ignored: 'there is no ID of a member at /user[id]' });
    expect(await sent('{"user[id]":"m-7"}')).toEqual({ ignored: 'there is no ID of a member at /user[id]' });
  });

  it.each([undefined, null, '', 0, '0', 1.5, ['m-7'], { id: 1 }, true, ' m-7', 'a\u0000b', 'x'.repeat(300)])(
    'have no effect, and are logged, when the member is %j',
    async (id) => {
      const before = log().length;
      expect(await send({ body: about(id) })).toMatchObject({
        status: 200,
        body: { ignored: 'there is no ID of a member at /user/id' },
      });
      expect(log().slice(before)).toEqual([
        expect.objectContaining({ level: 40, webhook: 'lms', msg: 'a webhook names no member at its pointer' }),
      ]);
    },
  );

  it('act on no one when they are about several members', async () => {
    const body = JSON.stringify({ users: [{ id: 'm-7' }, { id: 'm-8' }] });
    expect((await send({ name: 'lists', body })).body).toEqual({
      ignored: 'there is no ID of a member at /users/0/id',
    });
    const one = JSON.stringify({ users: [{ id: 'm-7' }] });
    expect((await send({ name: 'lists', body: one })).body).toEqual({ id: 'm-7', ended: 0 });
  });

  it('mean what the value at the pointer says, and otherwise nothing', async () => {
    const sent = async (type: unknown) => (await send({ name: 'accounts', body: about('m-9', { type }) })).body;
    expect(await sent('user.deleted')).toEqual({ id: 'm-9', ended: 0 });
    expect(await sent('banned')).toMatchObject({ id: 'm-9', state: 'suspended' });
    expect(await stateOf('m-9')).toBe('suspended');
    expect(await sent(7)).toEqual({ id: 'm-9', state: 'active' });
    for (const type of ['user.updated', undefined, null, {}, ['banned'], 'toString', '__proto__', 'undefined']) {
      expect(await sent(type)).toEqual({ ignored: 'no event is configured for this value' });
    }
    expect(await stateOf('m-9')).toBe('active');
  });

  it('cannot lift a suspension by a resume that is sent again, in any form', async () => {
    const suspend = about(SAM, { type: 'banned' });
    const resume = about(SAM, { type: true, at: 1 });
    const sent = (body: string, headers?: Record<string, string>) =>
      send({ name: 'accounts', body, ...(headers && { headers }) });
    expect((await sent(suspend)).body.state).toBe('suspended');
    expect((await sent(resume)).body).toEqual({ id: SAM, state: 'active' });
    // A suspension takes effect each time.
    expect((await sent(suspend)).body.state).toBe('suspended');
    for (const headers of [{ 'x-signature': hmac(resume) }, { 'x-other': `sha256=${hmac(resume, 'base64')}` }]) {
      expect((await sent(resume, headers)).body).toEqual({ ignored: 'this resume was already received' });
    }
    expect(await stateOf()).toBe('suspended');
    expect((await sent(about(SAM, { type: true, at: 2 }))).body).toEqual({ id: SAM, state: 'active' });
  });

  it('are refused when they cannot be read, or are not configured', async () => {
    const broken = '{"user":';
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`;
    for (const body of [broken, deep, '']) expect((await send({ body })).status).toBe(400);
    expect((await send({ body: 'x'.repeat(262_145), headers: {} })).status).toBe(413);
    const packed = gzipSync(about(SAM));
    const headers = { 'x-signature': hmac(packed), 'content-encoding': 'gzip' };
    expect((await send({ body: packed, headers })).status).toBe(415);
    for (const name of ['nobody', '__proto__', 'toString']) expect((await send({ name })).status).toBe(404);
    const wrong = await send({ method: 'GET', headers: {} });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });
});
