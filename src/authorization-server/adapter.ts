import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { APPROVAL } from '../approvals/kind.ts';
import { explainStep } from '../http/note-step.ts';
import {
  type Charge,
  chargeTo,
  chargeToMember,
  PENDING,
  PROOFS,
  SIGNING_IN,
  UNUSED_CLIENTS,
} from '../storage/quota.ts';
import {
  type Clock,
  type Entry,
  jsonEntry,
  type Mutation,
  type NewEntry,
  type Store,
  unixSeconds,
} from '../storage/store.ts';
import { type Suspensions, storedClientBlocks } from './administration/suspensions.ts';
import { answerKept } from './answer-watch.ts';
import { BACKEND_SESSION } from './backend-sessions.ts';
import { LAST_USE, USE } from './connected-apps/use-entry.ts';
import { refreshTokenAdapter } from './refresh-adapter.ts';
import { REFRESH_TOKEN } from './refresh-family.ts';
import type { RefreshTokens } from './refresh-token.ts';
import { type ClientRecords, type ClientRecordsOptions, clientRecords } from './registration/client-records.ts';
import { clientMetadataProblem } from './rules/client-metadata.ts';
import type { RedirectPolicy } from './rules/redirect-uri.ts';
import { currentUnitOfWork } from './unit-of-work.ts';
import { UNREDEEMED, unredeemedEntry } from './unredeemed.ts';

/** What a token request exchanges. Each can be exchanged once. */
const EXCHANGED = new Set(['AuthorizationCode', REFRESH_TOKEN]);

const PUSHED = 'PushedAuthorizationRequest';
/** oidc-provider's message for a pushed request that is expired or used. */
const PUSHED_IS_OVER = 'request_uri is invalid, expired, or was already used';

export interface AdapterOptions extends ClientRecordsOptions {
  readonly redirects: RedirectPolicy;
  /** Replay window in seconds: a repeated refresh gets the same answer. */
  readonly replayWindow: number;
  readonly refreshTokens: RefreshTokens;
}

interface AdapterContext extends AdapterOptions {
  readonly clients: ClientRecords;
  readonly blocks: Pick<Suspensions, 'since'>;
}

/** oidc-provider's storage adapter. Returns the factory for its `adapter` option, which makes one adapter per model. */
export function adapterFactory(options: AdapterOptions): (model: string) => Adapter {
  const { store, clock, refreshTokens } = options;
  const context = { ...options, clients: clientRecords(options), blocks: storedClientBlocks(store, clock) };
  const adapter = (model: string): Adapter => ({
    upsert: (id, payload, expiresIn) => save(context, model, id, payload, expiresIn),
    find: (id) => find(context, model, id),
    findByUid: async (uid) => toPayload((await store.findBy(model, 'uid', uid))[0]),
    // Device codes are not supported, but oidc-provider requires the method.
    findByUserCode: async () => undefined,
    consume: (id) => consume(context, model, id),
    destroy: (id) => destroy(context, model, id),
    revokeByGrantId: (id) => remove(context, { op: 'deleteBy', kind: model, name: 'grant', value: id }, true),
  });
  return (model) =>
    model === REFRESH_TOKEN ? refreshTokenAdapter(store, refreshTokens, adapter(model)) : adapter(model);
}

async function save(context: AdapterContext, model: string, id: string, payload: AdapterPayload, expiresIn?: number) {
  const { store, clients } = context;
  if (model === 'ReplayDetection') return useProof(context, id, expiresIn);
  if (model === 'Client') return clients.save(id, payload);
  if (model === 'AuthorizationCode') await clients.used(payload.clientId);
  const expiresAt = await expiryOf(context, model, payload, expiresIn);
  const charge = chargeOf(model, payload, expiresAt);
  const entry = { ...jsonEntry(model, id, payload, expiresAt, referencesOf(payload)), charge };
  const entries: NewEntry[] = [entry];
  if (model === 'Interaction') entries.push(...(await startedWith(store, payload, entry)));
  if (model === 'Grant') entries.push(unredeemedEntry(entry));
  const unit = currentUnitOfWork();
  if (unit === undefined) await store.commit(entries.map((one) => ({ op: 'put', entry: one })));
  else for (const one of entries) unit.put(one);
}

async function expiryOf(
  { clients, clock, replayWindow }: AdapterContext,
  model: string,
  payload: AdapterPayload,
  expiresIn: number | undefined,
): Promise<number | undefined> {
  if (model === 'RegistrationAccessToken') return clients.expiryOf(payload.clientId);
  if (expiresIn === undefined) return undefined;
  // A code used just before its expiry must still be recognised: later use of it is reuse.
  return unixSeconds(clock) + expiresIn + (model === 'AuthorizationCode' ? answerKept(replayWindow) : 0);
}

/**
 * Marks the `jti` of a DPoP proof as used (RFC 9449 sections 4.3 and 11.1), immediately and outside the unit of work,
 * because a failed request uses up its proof, too. The mark is kept for twice the time that the library asks for: a
 * proof dated in the future is accepted for up to twice the window.
 *
 * At the token endpoint, the library marks the proof only after it has found the code or refresh token. That write is
 * vital, because the connection depends on it. At other endpoints anyone can send proofs, so those count against a
 * quota.
 */
async function useProof({ store, clock }: AdapterContext, id: string, seconds = 0): Promise<void> {
  const expiresAt = unixSeconds(clock) + 2 * seconds;
  const known = currentUnitOfWork() !== undefined;
  const charge = known ? undefined : chargeTo(PROOFS);
  const entry = { kind: 'ReplayDetection', id, payload: '{}', expiresAt, references: {}, charge };
  if (!(await store.commit([{ op: 'create', entry }], known ? 'vital' : 'ordinary')))
    throw new errors.InvalidDpopProof('the DPoP proof was used before');
}

/**
 * Returns the pushed request that started an interaction, if any, with its lifetime extended to that of the
 * interaction. The pushed request is used up once, when the member has answered.
 */
async function startedWith(
  store: Store,
  { parJti }: AdapterPayload,
  { expiresAt = 0, charge }: NewEntry,
): Promise<readonly NewEntry[]> {
  const pushed = typeof parJti === 'string' ? await store.get(PUSHED, parJti) : undefined;
  if (pushed === undefined || typeof parJti !== 'string') return [];
  const longer = Math.max(expiresAt, pushed.expiresAt ?? 0);
  return [{ ...pushed, id: parJti, expiresAt: longer, charge, references: referencesOf(JSON.parse(pushed.payload)) }];
}

async function find(context: AdapterContext, model: string, id: string) {
  const { store, clock, blocks, redirects } = context;
  // Checking first and marking later would let one proof pass twice at the same time. Only the mark decides.
  if (model === 'ReplayDetection') return undefined;
  const unit = currentUnitOfWork();
  const [entry, disabled] = await Promise.all([
    (unit ?? store).get(model, id),
    model === 'Client' ? blocks.since(id) : undefined,
  ]);
  if (disabled !== undefined) {
    explainStep({ outcome: 'disabled' });
    return undefined;
  }
  const payload = toPayload(entry);
  // Otherwise an evicted or expired pushed request could be answered twice by members who have it open.
  if (model === PUSHED && payload === undefined) throw new errors.InvalidRequestUri(PUSHED_IS_OVER);
  if (payload === undefined) return undefined;
  // The rules may have changed since the client was registered. It then counts as unregistered, and its app registers
  // again.
  if (model === 'Client' && clientMetadataProblem(payload, redirects) !== undefined) return undefined;
  return unit !== undefined && EXCHANGED.has(model) ? asUnused(payload, clock) : payload;
}

/**
 * Presents a used code or refresh token, even one that has expired since its use, as unused, so that the token request
 * proceeds. Its commit then fails, and the token transaction decides whether it was a repeated request or a reuse. Only
 * the store prevents a second use.
 */
function asUnused(payload: AdapterPayload, clock: Clock): AdapterPayload {
  const { consumed, ...rest } = payload;
  return consumed === undefined ? payload : { ...rest, exp: Math.max(rest.exp ?? 0, unixSeconds(clock) + 1) };
}

async function consume({ store }: AdapterContext, model: string, id: string): Promise<void> {
  const unit = currentUnitOfWork();
  if (unit !== undefined) return unit.consume(model, id);
  if (await store.commit([{ op: 'consume', kind: model, id }])) return;
  throw model === PUSHED
    ? new errors.InvalidRequestUri('the request_uri was used before')
    : new errors.InvalidGrant('already used');
}

async function destroy(context: AdapterContext, model: string, id: string): Promise<void> {
  if (model === 'Client') return context.clients.remove(id);
  if (model === 'Interaction') return endInteraction(context, id);
  // The grant's usage counters and backend session are deleted with it.
  for (const kind of model === 'Grant' ? [USE, LAST_USE, BACKEND_SESSION, UNREDEEMED, APPROVAL] : [])
    await remove(context, { op: 'deleteBy', kind, name: 'grant', value: id }, false);
  // A token or grant that somebody uses is destroyed together with everything of its grant, by `revokeByGrantId`.
  await remove(context, { op: 'delete', kind: model, id }, false);
}

/** Ends an authorization request when it is continued. Of two requests that do so at the same time, one gets a code. */
async function endInteraction({ store }: AdapterContext, id: string): Promise<void> {
  const named = { kind: 'Interaction', id };
  if (
    await store.commit(
      [
        { op: 'consume', ...named },
        { op: 'delete', ...named },
      ],
      'vital',
    )
  )
    return;
  throw new errors.SessionNotFound('interaction session not found');
}

/** @param revoking - whether a token that may be cached loses access */
async function remove({ store, onRevoked }: AdapterContext, mutation: Mutation, revoking: boolean): Promise<void> {
  const after = revoking ? onRevoked : undefined;
  const unit = currentUnitOfWork();
  if (unit !== undefined) return unit.remove(mutation, after);
  await store.commit([mutation], 'vital').finally(after);
}

/** The quota for entries that anyone can cause. Undefined for entries that follow from a member's approval. */
function chargeOf(model: string, payload: AdapterPayload, expiresAt: number | undefined): Charge | undefined {
  const client = String(payload.params?.client_id ?? payload.clientId ?? '');
  switch (model) {
    case 'Interaction': {
      const member = payload.session?.accountId ?? payload.result?.login?.accountId;
      if (member !== undefined) return chargeToMember(String(member), client);
      // Outside the library's own endpoints it is saved again by identifyMember, when the browser has come back.
      return chargeTo(Provider.ctx === undefined ? SIGNING_IN : PENDING, client);
    }
    case 'Session':
      return payload.accountId === undefined ? chargeTo(PENDING) : chargeToMember(payload.accountId);
    case PUSHED:
      return chargeTo(PENDING, Provider.ctx?.oidc.client?.clientId);
    // Expires with its client as long as no member has connected that client.
    case 'RegistrationAccessToken':
      return expiresAt === undefined ? undefined : chargeTo(UNUSED_CLIENTS);
    default:
      return undefined;
  }
}

/** What belongs to a grant ends with it, and is never looked for otherwise. */
function referencesOf(payload: AdapterPayload): NewEntry['references'] {
  const { grantId, accountId, clientId, uid } = payload;
  if (typeof grantId === 'string') return { grant: grantId };
  return {
    ...(typeof accountId === 'string' ? { member: accountId } : {}),
    ...(typeof clientId === 'string' ? { client: clientId } : {}),
    ...(typeof uid === 'string' ? { uid } : {}),
  };
}

function toPayload(entry: Entry | undefined): AdapterPayload | undefined {
  if (entry === undefined) return undefined;
  const payload = JSON.parse(entry.payload) as AdapterPayload;
  return entry.consumedAt === undefined ? payload : { ...payload, consumed: entry.consumedAt };
}
