import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { NewEntry, Store } from '../../src/storage/store.ts';
import { gateProcess } from '../../test/faults/gate-process.ts';
import { registerApp } from '../../test/support/app.ts';
import { connect, refreshForm, type Tokens, token } from '../../test/support/connection.ts';

/** The records of one real connection, used as a template for many others. */
export interface Pattern {
  readonly origin: string;
  readonly clientId: string;
  readonly client: string;
  readonly grant: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly member: string;
  readonly registrationToken: string;
}

/** Connects an app to a real gate once, with this secret, and reads the records from its store. */
export async function patternOf(folder: string, secret: string): Promise<Pattern> {
  const data = join(folder, 'pattern');
  mkdirSync(data);
  const environment = { COURSEGATE__SECRET: '{ env: BENCH_SECRET }', BENCH_SECRET: secret };
  const gate = await gateProcess({ data, environment });
  await gate.start();
  const app = await registerApp(gate.origin);
  const first = (await connect(app)) as unknown as Tokens;
  // A refresh leaves its response in the record.
  const { body: tokens } = await token(app, refreshForm(app, first.refresh_token));
  await gate.close();
  const store = sealedStore(sqliteStore(join(data, 'coursegate.db'), Date.now), secret);
  const payload = async (kind: string, id: string) => (await store.get(kind, id))?.payload ?? '';
  const accessToken = await payload('AccessToken', tokens.access_token);
  const { grantId, accountId } = JSON.parse(accessToken) as { grantId: string; accountId: string };
  const pattern = {
    origin: app.resource,
    clientId: app.client.client_id,
    client: await payload('Client', app.client.client_id),
    grant: await payload('Grant', grantId),
    accessToken,
    refreshToken: await payload('RefreshToken', familyOf(tokens.refresh_token)),
    member: await payload('Member', accountId),
    registrationToken: await payload('RegistrationAccessToken', String(app.client.registration_access_token)),
  };
  await store.close();
  return pattern;
}

/** The id of a refresh token's record: the first 16 bytes after the marker. */
function familyOf(refreshToken: string): string {
  return Buffer.from(refreshToken.slice(3), 'base64url').toString('base64url', 0, 16);
}

/** A stored connection and its tokens. */
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
/** Tokens per grant: an access token, a refresh token, and those that it replaced, which are stored to detect reuse. */
const TOKENS = 10;
const DAY = 86_400;

/**
 * Fills a store with `count` tokens as the gate at `origin` would: ten per grant, five grants per member, and twenty apps, in
 * commits of several grants. Returns a sample of the connections from the whole range.
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
