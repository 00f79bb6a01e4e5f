import { describe, expect, it } from 'vitest';
import { adapterFactory } from '../../../src/authorization-server/adapter.ts';
import { NO_OUTBOX } from '../../../src/events/outbox.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import { TEST_TOKENS } from '../../support/refresh-tokens.ts';

const HOUR = 3600_000;
const CLIENT = { redirect_uris: ['https://app.example/callback'] };

function records() {
  const time = { now: Date.UTC(2026, 0, 1) };
  const clock = () => time.now;
  const store = sealedStore(memoryStore(clock), 'x'.repeat(32));
  const revoked = { count: 0 };
  const models = adapterFactory({
    store,
    clock,
    onRevoked: () => {
      revoked.count += 1;
    },
    unusedLifetime: 24 * 3600,
    replayWindow: 10,
    refreshTokens: TEST_TOKENS,
    redirects: { schemes: [], allow: [], deny: [] },
    outbox: NO_OUTBOX,
  });
  const adapters = {
    client: models('Client'),
    token: models('RegistrationAccessToken'),
    code: models('AuthorizationCode'),
  };
  const add = async (id: string) => {
    await adapters.client.upsert(id, CLIENT, 0 as never);
    await adapters.token.upsert(`token-${id}`, { jti: `token-${id}`, clientId: id }, undefined as never);
  };
  const use = (id: string) => adapters.code.upsert(`code-${id}-${time.now}`, { clientId: id, grantId: 'g' }, 60);
  const alive = async (id: string) => [
    (await adapters.client.find(id)) !== undefined,
    (await adapters.token.find(`token-${id}`)) !== undefined,
  ];
  return { time, store, models, adapters, add, use, alive, revoked };
}

describe('registered clients in the store', () => {
  it('are deleted with their tokens after a day without use', async () => {
    const { time, add, alive } = records();
    await add('a');
    time.now += 24 * HOUR - 1000;
    expect(await alive('a')).toEqual([true, true]);
    time.now += 1000;
    expect(await alive('a')).toEqual([false, false]);
  });

  it('store the ID token algorithm only when it is not the default, so that a gate that knows only ES256 can read them', async () => {
    const { adapters } = records();
    for (const [algorithm, stored] of [
      ['RS256', undefined],
      ['ES256', 'ES256'],
    ]) {
      await adapters.client.upsert('a', { ...CLIENT, id_token_signed_response_alg: algorithm } as never, 0 as never);
      expect((await adapters.client.find('a'))?.id_token_signed_response_alg).toBe(stored);
    }
  });

  it('are kept for good once a code was issued', async () => {
    const { time, add, use, alive, adapters } = records();
    await add('a');
    time.now += 23 * HOUR;
    await use('a');
    await use('a');
    time.now += 5 * 365 * 24 * HOUR;
    expect(await alive('a')).toEqual([true, true]);
    await adapters.client.upsert('a', { ...CLIENT, client_name: 'After' }, 0 as never);
    await adapters.token.upsert('later', { jti: 'later', clientId: 'a' }, undefined as never);
    time.now += 365 * 24 * HOUR;
    expect(await alive('a')).toEqual([true, true]);
    expect(await adapters.token.find('later')).toBeDefined();
    expect(await adapters.client.find('a')).toMatchObject({ client_name: 'After' });
  });

  it('do not live longer after an update or a new token', async () => {
    const { time, add, adapters, alive } = records();
    await add('a');
    time.now += 23 * HOUR;
    await adapters.client.upsert('a', CLIENT, 0 as never);
    await adapters.token.upsert('later', { jti: 'later', clientId: 'a' }, undefined as never);
    time.now += HOUR;
    expect(await alive('a')).toEqual([false, false]);
    expect(await adapters.token.find('later')).toBeUndefined();
  });

  it('are not restored by a code that is issued after they have ended', async () => {
    const { time, add, use, alive, adapters } = records();
    await add('a');
    await add('b');
    await adapters.client.destroy('a');
    time.now += 25 * HOUR;
    for (const id of ['a', 'b', 'never']) await use(id);
    expect(await alive('a')).toEqual([false, false]);
    expect(await alive('b')).toEqual([false, false]);
    expect(await adapters.client.find('never')).toBeUndefined();
  });

  it.each(['Client', 'RegistrationAccessToken'])(
    'are not restored when the %s is deleted while a code is issued',
    async (kind) => {
      const { time, store, adapters, add, use } = records();
      await add('a');
      const { findBy } = store;
      // Between the read and the write.
      store.findBy = async (...query) => {
        const found = await findBy(...query);
        store.findBy = findBy;
        if (kind === 'Client') await adapters.client.destroy('a');
        else await adapters.token.destroy('token-a');
        return found;
      };
      await use('a');
      time.now += 25 * HOUR;
      expect((await adapters.client.find('a')) !== undefined).toBe(kind !== 'Client');
      expect(await adapters.token.find('token-a')).toBeUndefined();
    },
  );

  it('can be used by many codes at once', async () => {
    const { time, add, use, alive } = records();
    await add('a');
    await Promise.all(Array.from({ length: 20 }, () => use('a')));
    time.now += 25 * HOUR;
    expect(await alive('a')).toEqual([true, true]);
  });

  it('are deleted with everything that refers to them, and nothing else', async () => {
    const { time, add, adapters, models, revoked } = records();
    await add('a');
    await add('b');
    const values: Record<string, string> = { a: TEST_TOKENS.issue(0), b: TEST_TOKENS.issue(0) };
    const idOf = (kind: string, id: string) => (kind === 'RefreshToken' ? String(values[id]) : `${kind}-${id}`);
    const kinds = ['Grant', 'AccessToken', 'RefreshToken', 'AuthorizationCode'];
    for (const kind of kinds) {
      for (const id of ['a', 'b']) {
        const jti = idOf(kind, id);
        const of = kind === 'Grant' ? {} : { grantId: `Grant-${id}` };
        await models(kind).upsert(jti, { jti, clientId: id, exp: time.now / 1000 + 600, ...of }, 600);
      }
    }
    await adapters.client.destroy('a');
    expect(revoked.count).toBe(1);
    for (const kind of kinds) {
      expect(await models(kind).find(idOf(kind, 'a')), kind).toBeUndefined();
      expect(await models(kind).find(idOf(kind, 'b')), kind).toBeDefined();
    }
    expect(await adapters.token.find('token-a')).toBeUndefined();
    expect(await adapters.token.find('token-b')).toBeDefined();
  });

  it('are swept when they were never used, and kept when they were', async () => {
    const { time, add, use, store, adapters } = records();
    for (let index = 0; index < 1000; index += 1) await add(String(index));
    await use('7');
    time.now += 24 * HOUR;
    let swept = 0;
    for (let batch = await store.sweep(500); batch > 0; batch = await store.sweep(500)) swept += batch;
    // Each client, and its registration access token.
    expect(swept).toBe(2 * 999);
    // The code is kept for a day, in case the response to it was lost in a crash.
    time.now += HOUR;
    expect(await store.sweep(500)).toBe(1);
    expect(await adapters.client.find('7')).toBeDefined();
  });
});
