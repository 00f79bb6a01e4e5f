import { cpSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Store } from '../../src/storage/store.ts';
import { type App, postForm, registerApp, revoke } from '../support/app.ts';
import { approved, connect, read, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { proofKey, signProof } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

const DAY = 86_400_000;

describe('the refresh tokens of one connection', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-families-'));
  const [copies, log] = [join(folder, 'copy'), join(folder, 'log')];
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'B', clock: () => Date.now(), log: createLog('info', openSync(log, 'w')) });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => void vi.useRealTimers());

  const start = async () => (await connect(app)) as unknown as Tokens;
  const renew = (refreshToken: string, extra: Record<string, string> = {}) =>
    token(app, refreshForm(app, refreshToken, extra));
  const renewed = async (refreshToken: string) => (await renew(refreshToken)).body;
  const introspected = async (value: string) => {
    const form = { client_id: app.client.client_id, token: value };
    return (await read(await postForm(app.server.introspection_endpoint, form))).body;
  };
  const audited = (action: string) => readFileSync(log, 'utf8').split(`"event.action":"${action}"`).length - 1;
  const inStore = <T>(work: (store: Store) => Promise<T>): Promise<T> =>
    world.whileStopped(async () => {
      const config = { kind: 'sqlite', path: join(world.data, 'coursegate.db') } as const;
      const { store } = await openStore(config, { secret: undefined, redis: undefined }, Date.now);
      return work(store).finally(() => store.close());
    });
  /** Runs `work`, then puts the store back to the state it had before. */
  const undone = async (work: () => Promise<void>) => {
    await world.whileStopped(async () => cpSync(world.data, copies, { recursive: true }));
    await work();
    await world.whileStopped(async () => {
      for (const name of ['coursegate.db', 'coursegate.db-wal', 'coursegate.db-shm'])
        rmSync(join(world.data, name), { force: true });
      cpSync(copies, world.data, { recursive: true });
    });
  };

  it('take one entry of the store, however often they are used', async () => {
    const first = await start();
    const countOf = () =>
      inStore(async (store) => {
        const { entries } = await store.scan(undefined, undefined, 1000);
        return entries.filter(({ kind }) => /^Refresh/.test(kind)).length;
      });
    const before = await countOf();
    let { refresh_token } = first;
    for (let times = 0; times < 5; times += 1) ({ refresh_token } = await renewed(refresh_token));
    expect(await countOf()).toBe(before);
    expect((await renew(refresh_token)).status).toBe(200);
  });

  it('are known as used for as long as the connection lasts', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const first = await start();
    let { refresh_token } = first;
    for (let times = 0; times < 3; times += 1) {
      vi.setSystemTime(Date.now() + 20 * DAY);
      ({ refresh_token } = await renewed(refresh_token));
    }
    const reused = audited('refresh_token_reuse');
    expect(await renew(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(audited('refresh_token_reuse')).toBe(reused + 1);
    expect((await renew(refresh_token)).status).toBe(400);
  });

  it('end nothing when they are made up, cut, or the name of their record', async () => {
    const first = await start();
    const { refresh_token: second } = await renewed(first.refresh_token);
    const family = Buffer.from(first.refresh_token.slice(3), 'base64url').toString('base64url', 0, 16);
    const changed = `${first.refresh_token.slice(0, -1)}${first.refresh_token.endsWith('A') ? 'B' : 'A'}`;
    for (const value of [changed, first.refresh_token.slice(0, -1), family, family.padEnd(43, 'A')])
      expect((await renew(value)).body.error_description).toBe(
        'the refresh token is not known here: it was mistyped, revoked, or has expired',
      );
    expect((await renew(second)).status).toBe(200);
  });

  it('expire without being taken for used', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const first = await start();
    const { refresh_token } = await renewed(first.refresh_token);
    vi.setSystemTime(Date.now() + 31 * DAY);
    const reused = audited('refresh_token_reuse');
    for (const value of [refresh_token, first.refresh_token])
      expect(await renew(value)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(audited('refresh_token_reuse')).toBe(reused);
  });

  it('that were used are inactive when introspected, and end the connection when revoked', async () => {
    const first = await start();
    const second = await renewed(first.refresh_token);
    expect(await introspected(first.refresh_token)).toEqual({ active: false });
    expect(await introspected(second.refresh_token)).toMatchObject({ active: true });
    await revoke(app, first.refresh_token);
    expect(await statusOf(world.origin, second.access_token)).toBe(401);
    expect((await renew(second.refresh_token)).status).toBe(400);
  });

  it('that were used need the key of the connection, and end nothing without it', async () => {
    const tokenUrl = `${world.origin}/api/oauth/token`;
    const key = await proofKey();
    const proof = (by = key) => signProof(by, { htm: 'POST', htu: tokenUrl });
    const { form } = await approved(app);
    const first = await token(app, form, { dpop: await proof() });
    const bound = (value: string, dpop?: string) =>
      token(app, refreshForm(app, value), dpop === undefined ? {} : { dpop });
    const second = await bound(first.body.refresh_token, await proof());
    const third = await bound(second.body.refresh_token, await proof());
    for (const dpop of [undefined, await proof(await proofKey())])
      expect((await bound(first.body.refresh_token, dpop)).body.error).toBe('invalid_grant');
    expect((await bound(third.body.refresh_token, await proof())).status).toBe(200);
    await bound(first.body.refresh_token, await proof());
    expect(await statusOf(world.origin, third.body.access_token)).toBe(401);
  });

  it('of the earlier form work, are replaced by the new one, and are known as used', async () => {
    const old = 'o'.repeat(43);
    const first = await start();
    const family = Buffer.from(first.refresh_token.slice(3), 'base64url').toString('base64url', 0, 16);
    await inStore(async (store) => {
      const entry = await store.get('RefreshToken', family);
      const { hash: _, ...record } = JSON.parse(entry?.payload ?? '{}') as Record<string, unknown>;
      const payload = { ...record, jti: old, kind: 'RefreshToken', exp: entry?.expiresAt, iiat: record.iat };
      const references = { grant: String(record.grantId) };
      await store.commit([
        { op: 'delete', kind: 'RefreshToken', id: family },
        {
          op: 'put',
          entry: {
            kind: 'RefreshToken',
            id: old,
            payload: JSON.stringify(payload),
            expiresAt: entry?.expiresAt,
            references,
          },
        },
      ]);
    });
    const answers = await Promise.all([renew(old), renew(old), renew(old)]);
    const second = await renew(old);
    for (const answer of answers) expect(answer.body).toEqual(second.body);
    expect(second.body.refresh_token).toMatch(/^r1_[\w-]{72}$/);
    const third = await renewed(second.body.refresh_token);
    expect((await renew(old)).status).toBe(400);
    expect((await renew(third.refresh_token)).status).toBe(400);
  });

  describe('when the store is restored to an earlier state', () => {
    const TEXT =
      'the refresh token is newer than what is stored here, which was restored to an earlier state: the member must approve again';

    it('are refused without ending the connection, and audited', async () => {
      const first = await start();
      let lost = first;
      await undone(async () => {
        lost = await renewed(first.refresh_token);
      });
      const before = audited('refresh_token_ahead');
      expect(await renew(lost.refresh_token)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant', error_description: TEXT },
      });
      expect(audited('refresh_token_ahead')).toBe(before + 1);
      expect(await introspected(lost.refresh_token)).toEqual({ active: false });
      const thief = await registerApp(world.origin);
      expect((await token(thief, refreshForm(thief, lost.refresh_token))).body.error_description).not.toBe(TEXT);
      expect((await renew(first.refresh_token)).status).toBe(200);
    });

    it('do not bring back a connection that was ended since, and can end one', async () => {
      const [ended, living] = [await start(), await start()];
      let [ofEnded, ofLiving] = [ended, living];
      await undone(async () => {
        ofEnded = await renewed(ended.refresh_token);
        ofLiving = await renewed(living.refresh_token);
        await revoke(app, ofEnded.refresh_token);
      });
      expect((await renew(ofEnded.refresh_token)).status).toBe(400);
      await revoke(app, ofLiving.refresh_token);
      expect((await renew(living.refresh_token)).status).toBe(400);
    });

    it('end the connection when two holders went on from the same token', async () => {
      const first = await start();
      let lost = first;
      await undone(async () => {
        lost = await renewed(first.refresh_token);
      });
      const second = await renewed(first.refresh_token);
      expect((await renew(lost.refresh_token)).status).toBe(400);
      expect(await statusOf(world.origin, second.access_token)).toBe(401);
    });
  });
});
