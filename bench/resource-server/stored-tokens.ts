import { randomBytes } from 'node:crypto';
import type { NewEntry, Store } from '../../src/storage/store.ts';
import type { App } from '../../test/support/app.ts';
import { connect, type Tokens } from '../../test/support/connection.ts';

/** What one real connection left in the store, to be written again under other names. */
export interface Pattern {
  readonly origin: string;
  readonly clientId: string;
  readonly client: string;
  readonly grant: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly member: string;
}

/** Connects `app` once, so that what is stored is what the gate stores. The gate must have let go of the store by `read`. */
export async function connectOnce(app: App): Promise<Tokens> {
  return (await connect(app)) as unknown as Tokens;
}

export async function readPattern(store: Store, app: App, tokens: Tokens): Promise<Pattern> {
  const payload = async (kind: string, id: string) => (await store.get(kind, id))?.payload ?? '';
  const accessToken = await payload('AccessToken', tokens.access_token);
  const { grantId, accountId } = JSON.parse(accessToken) as { grantId: string; accountId: string };
  return {
    origin: app.resource,
    clientId: app.client.client_id,
    client: await payload('Client', app.client.client_id),
    grant: await payload('Grant', grantId),
    accessToken,
    refreshToken: await payload('RefreshToken', tokens.refresh_token),
    member: await payload('Member', accountId),
  };
}

/** A connection whose tokens the bench knows. */
export interface Stored {
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly accountId: string;
  readonly grantId: string;
}

const CLIENTS = 20;
/** Grants of one member. */
const EACH = 5;
/** Of one grant: an access token, a refresh token, and those that it replaced, kept so that a replay is found out. */
const TOKENS = 10;
const DAY = 86_400;

/**
 * Fills a store with `count` tokens as the gate at `origin` would have: ten to a grant, five grants to a member, all of
 * twenty apps; in commits of so many grants. Out: some of them, from all over.
 */
export async function fill(
  store: Store,
  pattern: Pattern,
  origin: string,
  count: number,
  batchSize: number,
): Promise<readonly Stored[]> {
  const name = () => randomBytes(32).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  const clients = Array.from({ length: CLIENTS }, name);
  const kept: Stored[] = [];
  const grants = count / TOKENS;
  const keepEvery = Math.max(1, Math.floor(grants / 5000));
  const parsed = (text: string) => JSON.parse(text.replaceAll(pattern.origin, origin)) as object;
  const shapes = {
    Client: parsed(pattern.client),
    Member: parsed(pattern.member),
    Grant: parsed(pattern.grant),
    AccessToken: parsed(pattern.accessToken),
    RefreshToken: parsed(pattern.refreshToken),
  };
  const entry = (kind: keyof typeof shapes, id: string, changed: object, references: NewEntry['references']) => ({
    op: 'put' as const,
    entry: {
      kind,
      id,
      payload: JSON.stringify({ ...shapes[kind], ...changed }),
      expiresAt: kind === 'Client' || kind === 'Member' ? undefined : now + DAY,
      references,
    },
  });
  await store.commit(clients.map((client) => entry('Client', client, { client_id: client }, { client })));
  let accountId = '';
  for (let at = 0; at < grants; ) {
    const batch = [];
    for (const end = Math.min(at + batchSize, grants); at < end; at += 1) {
      if (at % EACH === 0) {
        accountId = `m-${at / EACH}`;
        batch.push(entry('Member', accountId, { sub: accountId }, {}));
      }
      const [grantId, accessToken, refreshToken] = [name(), name(), name()];
      const clientId = clients[at % CLIENTS] ?? '';
      const common = { accountId, clientId, iat: now, exp: now + DAY };
      const references = { member: accountId, client: clientId };
      const ofGrant = { ...references, grant: grantId };
      const refresh = (jti: string) => entry('RefreshToken', jti, { ...common, grantId, iiat: now, jti }, ofGrant);
      batch.push(
        entry('Grant', grantId, { ...common, jti: grantId }, references),
        entry('AccessToken', accessToken, { ...common, grantId, jti: accessToken }, ofGrant),
        ...Array.from({ length: TOKENS - 2 }, () => refresh(name())),
        refresh(refreshToken),
      );
      if (at % keepEvery === 0) kept.push({ clientId, accessToken, refreshToken, accountId, grantId });
    }
    await store.commit(batch);
  }
  return kept;
}
