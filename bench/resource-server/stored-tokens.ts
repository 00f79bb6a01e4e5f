import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { lastUseEntry } from '../../src/authorization-server/connected-apps/use-entry.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import { jsonEntry, type Mutation, type NewEntry, type Store } from '../../src/storage/store.ts';
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

/** A connected app in a store. */
export interface Stored {
  readonly clientId: string;
  readonly accessToken: string;
}

const DAY = 86_400;
/** How many of them are returned. */
const SAMPLE = 5000;

/** The name of a member, which only this member has. */
export const memberName = (at: number): string => `Member ${at} of the bench`;

/**
 * Fills a store with connected apps as the gate at `origin` stores them: each has a registration and a member of its own, a
 * grant that was used, an access token and the record of its refresh tokens. Commits so many of them at once, and so many times
 * in parallel. Returns a sample from the whole range.
 */
export async function fill(
  store: Store,
  pattern: Pattern,
  origin: string,
  count: number,
  { batch, parallel }: { readonly batch: number; readonly parallel: number },
): Promise<readonly Stored[]> {
  const kept: Stored[] = [];
  const every = Math.max(1, Math.floor(count / SAMPLE));
  const appOf = connectedApps(pattern, origin);
  let next = 0;
  const work = async () => {
    while (next < count) {
      const from = next;
      next = Math.min(from + batch, count);
      const entries: NewEntry[] = [];
      for (let at = from; at < next; at += 1) {
        const app = appOf(at);
        entries.push(...app.entries);
        if (at % every === 0) kept.push(app.stored);
      }
      await commitAtLast(
        store,
        entries.map((entry) => ({ op: 'put', entry })),
      );
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return kept;
}

/** On a busy machine, a server may not finish a commit within its deadline. */
async function commitAtLast(store: Store, mutations: readonly Mutation[]): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await store.commit(mutations));
    } catch (thrown) {
      if (tries === 20) throw thrown;
      await pause(100);
    }
  }
}

function connectedApps(pattern: Pattern, origin: string) {
  const name = (bytes = 32) => randomBytes(bytes).toString('base64url');
  const parsed = (text: string) => JSON.parse(text.replaceAll(pattern.origin, origin)) as object;
  const shapes = {
    Client: parsed(pattern.client),
    RegistrationAccessToken: parsed(pattern.registrationToken),
    Member: parsed(pattern.member),
    Grant: parsed(pattern.grant),
    AccessToken: parsed(pattern.accessToken),
    RefreshToken: parsed(pattern.refreshToken),
  };
  const now = Math.floor(Date.now() / 1000);
  const exp = now + DAY;
  return (at: number): { readonly entries: readonly NewEntry[]; readonly stored: Stored } => {
    const [clientId, grantId, accessToken, registrationToken] = [name(), name(), name(), name()];
    const member = `bench-${at}`;
    const entry = (kind: keyof typeof shapes, id: string, changed: object, references: NewEntry['references']) =>
      jsonEntry(kind, id, { ...shapes[kind], ...changed }, 'exp' in changed ? exp : undefined, references);
    const common = { accountId: member, clientId, iat: now, exp };
    const use = {
      id: name(15),
      grantId,
      member,
      day: Math.floor(now / DAY),
      areas: new Map([['tool', { count: 1, last: now }]]),
    };
    const entries = [
      entry('Client', clientId, { client_id: clientId, client_name: `App ${at}` }, {}),
      entry('RegistrationAccessToken', registrationToken, { clientId, jti: registrationToken }, { client: clientId }),
      entry('Member', member, { sub: member, name: memberName(at), email: `member${at}@mail.example` }, {}),
      entry('Grant', grantId, { ...common, jti: grantId }, { member, client: clientId }),
      entry('AccessToken', accessToken, { ...common, grantId, jti: accessToken }, { grant: grantId }),
      entry('RefreshToken', name(16), { ...common, grantId }, { grant: grantId }),
      lastUseEntry(use, exp),
    ];
    return { entries, stored: { clientId, accessToken } };
  };
}
