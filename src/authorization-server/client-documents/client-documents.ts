import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Log } from '../../operations/log.ts';
import { chargeTo, UNUSED_DOCUMENTS } from '../../storage/quota.ts';
import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';
import type { FetchBudget } from './budget.ts';
import { type ClientDocument, metadataOf, readDocument } from './document.ts';
import { DocumentFailure } from './failure.ts';
import { fetchDocument } from './fetch-document.ts';
import type { DocumentNetwork } from './network.ts';
import { type UrlRule, urlProblem } from './url-rule.ts';

export interface ClientDocumentsOptions extends UrlRule {
  /** What every client is registered with. */
  readonly scope: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly network: DocumentNetwork;
  readonly budget: FetchBudget;
  /** Judges metadata as a registration is judged; throws when it is not acceptable. */
  readonly judge: (metadata: Record<string, unknown>) => void;
  /** Told of what is kept in memory. */
  readonly watchCache?: (name: string, cache: { readonly size: number; readonly max: number }) => void;
  /** Milliseconds for one fetch. */
  readonly deadline?: number;
}

/** Client ID Metadata Documents as clients: fetched, judged, remembered. All methods throw DocumentFailure. */
export interface ClientDocuments {
  /** For a new authorization: the document as it is now, or the last good one when its host does not answer. */
  current(clientId: string): Promise<void>;
  /** For what was approved before: the last good document, renewed in the background. */
  approved(clientId: string): Promise<void>;
  /** For an access token that lives for minutes: whatever is known, at any age. */
  known(clientId: string): Promise<void>;
  /** Out: the client metadata, as JSON, of a document that one of the above has found. */
  metadata(clientId: string): Promise<string>;
}

const KIND = 'ClientDocument';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const SHORTEST_FRESH = 5 * MINUTE;
/** For a document whose server says nothing of caching. */
const USUALLY_FRESH = 60 * MINUTE;
const LONGEST_FRESH = DAY;
/** How long a document is used after it went stale, while no newer one can be had (RFC 5861 §4). */
const STALE_IF_ERROR = 7 * DAY;
/** How long a failure is remembered. */
const FAILURE_LASTS = MINUTE;
/**
 * How long a document is kept in the store: while a member decides, and from the first token on as long as a refresh
 * token may lie idle. Anyone can make us fetch; only an approval makes us keep.
 */
const KEPT_UNUSED = 30 * MINUTE;
const KEPT_USED = 30 * DAY;

const DOCUMENTS_IN_MEMORY = 500;
const FAILURES_IN_MEMORY = 5000;
const DEADLINE = 2500;

/** What the store holds of a document. Times in milliseconds. */
interface DocumentRecord {
  readonly document: ClientDocument;
  readonly fetchedAt: number;
  readonly freshUntil: number;
  readonly used: boolean;
}

interface Known extends DocumentRecord {
  readonly metadata: string;
}

interface RememberedFailure {
  readonly failure: DocumentFailure;
  readonly until: number;
}

export function createClientDocuments(options: ClientDocumentsOptions): ClientDocuments {
  const { store, clock, network, budget, log, deadline = DEADLINE } = options;
  const memory = new LRUCache<string, Known>({ max: DOCUMENTS_IN_MEMORY });
  const failures = new LRUCache<string, RememberedFailure>({ max: FAILURES_IN_MEMORY });
  const fetches = new Map<string, Promise<Known>>();
  options.watchCache?.('client_documents', memory);
  options.watchCache?.('client_document_failures', failures);

  /** The newest good document: this process's, or when that one is stale, the one another replica may have stored. */
  const load = async (clientId: string): Promise<Known | undefined> => {
    const held = memory.get(clientId);
    if (held !== undefined && clock() < held.freshUntil) return held;
    const stored = await store.get(KIND, clientId);
    if (stored === undefined) return held;
    const record = JSON.parse(stored.payload) as DocumentRecord;
    if (held !== undefined && held.fetchedAt >= record.fetchedAt) return held;
    const known = accept(record);
    if (known !== undefined) memory.set(clientId, known);
    return known;
  };

  /** The configuration may have changed since it was stored: then it is as if it had not been. */
  const accept = (record: DocumentRecord): Known | undefined => {
    try {
      return judged(record);
    } catch {
      return undefined;
    }
  };

  const judged = (record: DocumentRecord): Known => {
    try {
      const metadata = metadataOf(record.document, options.scope);
      options.judge(metadata);
      return { ...record, metadata: JSON.stringify(metadata) };
    } catch (thrown) {
      if (thrown instanceof DocumentFailure) throw thrown;
      throw new DocumentFailure('refused', descriptionOf(thrown), thrown);
    }
  };

  const save = async (clientId: string, known: Known): Promise<void> => {
    memory.set(clientId, known);
    const { metadata: _derived, ...record } = known;
    const kept = known.used ? KEPT_USED : KEPT_UNUSED;
    const expiresAt = unixSeconds(() => Math.max(clock(), known.fetchedAt) + kept);
    const charge = known.used ? undefined : chargeTo(UNUSED_DOCUMENTS);
    const entry = { kind: KIND, id: clientId, payload: JSON.stringify(record), expiresAt, references: {}, charge };
    // A refresh may wait for the document of an app in use.
    await store.commit([{ op: 'put', entry }], known.used ? 'vital' : 'ordinary');
  };

  const renew = async (clientId: string, last: Known | undefined): Promise<Known> => {
    const url = new URL(clientId);
    const began = performance.now();
    try {
      const fetched = await budget.spend(url.hostname, () => fetchDocument(url, network, deadline));
      const fetchedAt = clock();
      const document = readDocument(clientId, fetched.body);
      const freshUntil = fetchedAt + freshFor(fetched.cacheControl);
      const known = judged({ document, fetchedAt, freshUntil, used: last?.used ?? false });
      failures.delete(clientId);
      await save(clientId, known);
      return known;
    } catch (thrown) {
      if (!(thrown instanceof DocumentFailure)) throw thrown;
      log.warn({ client: clientId, kind: thrown.kind, err: thrown }, 'a client metadata document cannot be used');
      if (thrown.kind !== 'busy') {
        failures.set(clientId, { failure: thrown, until: clock() + FAILURE_LASTS });
        // How long a failure took would tell what stands at the address: of unknown hosts, they all take the same time.
        const telling = last === undefined && thrown.kind !== 'refused';
        if (telling) await sleep(Math.max(0, deadline - (performance.now() - began)));
      }
      throw thrown;
    }
  };

  /** One fetch at a time for one document. A failure is not tried again for a while. */
  const fetchOnce = (clientId: string, last: Known | undefined): Promise<Known> => {
    const running = fetches.get(clientId);
    if (running !== undefined) return running;
    const remembered = failures.get(clientId);
    if (remembered !== undefined && clock() < remembered.until) return Promise.reject(remembered.failure);
    const fetching = renew(clientId, last).finally(() => fetches.delete(clientId));
    fetches.set(clientId, fetching);
    return fetching;
  };

  const requireGoodUrl = (clientId: string): void => {
    const problem = urlProblem(clientId, options);
    if (problem === undefined) return;
    log.info({ client: clientId.slice(0, 200), problem }, 'a client_id is no URL of a client metadata document');
    throw new DocumentFailure('forbidden', problem);
  };

  const current = async (clientId: string): Promise<Known> => {
    requireGoodUrl(clientId);
    const last = await load(clientId);
    const now = clock();
    if (last !== undefined && now < last.freshUntil) return last;
    try {
      return await fetchOnce(clientId, last);
    } catch (thrown) {
      if (last === undefined || !outlasts(thrown)) throw thrown;
      if (now < last.freshUntil + STALE_IF_ERROR) return last;
      throw new DocumentFailure('overdue', 'has been unavailable for too long', thrown);
    }
  };

  const renewInBackground = (clientId: string, last: Known): void => {
    if (clock() < last.freshUntil || urlProblem(clientId, options) !== undefined) return;
    // Failures are logged where they arise; the last good document stands.
    fetchOnce(clientId, last).catch(() => undefined);
  };

  return {
    async current(clientId) {
      await current(clientId);
    },

    async approved(clientId) {
      requireGoodUrl(clientId);
      const last = await load(clientId);
      const usable = last !== undefined && clock() < last.freshUntil + STALE_IF_ERROR;
      const document = usable ? last : await current(clientId);
      if (!document.used) await save(clientId, { ...document, used: true });
      if (usable) renewInBackground(clientId, document);
    },

    async known(clientId) {
      const last = await load(clientId);
      if (last === undefined) await current(clientId);
      else renewInBackground(clientId, last);
    },

    async metadata(clientId) {
      const known = memory.get(clientId) ?? (await load(clientId));
      if (known === undefined) throw new DocumentFailure('unavailable', 'is not known');
      return known.metadata;
    },
  };
}

/** Whether the last good document outlasts a failure: it does when its host failed, not when the host changed its mind. */
function outlasts(thrown: unknown): boolean {
  return thrown instanceof DocumentFailure && (thrown.kind === 'unavailable' || thrown.kind === 'busy');
}

function freshFor(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return USUALLY_FRESH;
  const seconds = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,10})/i.exec(cacheControl)?.[1];
  if (seconds === undefined || /(?:^|,)\s*no-(?:store|cache)\b/i.test(cacheControl)) return SHORTEST_FRESH;
  return Math.min(LONGEST_FRESH, Math.max(SHORTEST_FRESH, Number(seconds) * 1000));
}

function descriptionOf(thrown: unknown): string {
  const { error_description: description, message } = thrown as { error_description?: unknown; message?: unknown };
  return typeof description === 'string' ? description : String(message);
}
