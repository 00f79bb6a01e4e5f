/**
 * Clients identified by the URL of a Client ID Metadata Document. Fetches these documents safely, checks them by the
 * rules for registrations, and caches them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { currentRequest } from '../../http/current-request.ts';
import type { Log } from '../../operations/log.ts';
import type { FetchBudget, FetchTurn } from './budget.ts';
import { readDocument } from './document.ts';
import { type DocumentRecordsOptions, documentRecords, type Known } from './document-records.ts';
import { DocumentFailure } from './failure.ts';
import { fetchDocument } from './fetch-document.ts';
import type { DocumentNetwork } from './network.ts';
import { type UrlRule, urlProblem } from './url-rule.ts';

export interface ClientDocumentsOptions extends UrlRule, Omit<DocumentRecordsOptions, 'memory'> {
  readonly log: Log;
  readonly network: DocumentNetwork;
  readonly budget: FetchBudget;
  /** Registers the in-memory caches for metrics. */
  readonly watchCache?: (name: string, cache: { readonly size: number; readonly max: number }) => void;
  /** Milliseconds for one fetch, and for the wait until it may begin. */
  readonly deadline?: number;
}

/** Finds the documents of clients, fetched or cached. All methods throw DocumentFailure. */
export interface ClientDocuments {
  /** For a new authorization: the current document, or the last good one if its host does not answer. */
  current(clientId: string): Promise<void>;
  /** For an existing approval: the last good document, renewed in the background. */
  approved(clientId: string): Promise<void>;
  /** For an access token, which lives for minutes: any known document, regardless of its age. */
  known(clientId: string): Promise<void>;
  /** The client metadata, as JSON, of a document that one of the methods above has found. */
  metadata(clientId: string): Promise<string>;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const SHORTEST_FRESH = 5 * MINUTE;
/** For a document whose server sends no Cache-Control field. */
const USUALLY_FRESH = 60 * MINUTE;
const LONGEST_FRESH = DAY;
/** How long a stale document is used while no newer one is available (RFC 5861 section 4). */
const STALE_IF_ERROR = 7 * DAY;
/** How long a failure is remembered. */
const FAILURE_LASTS = MINUTE;

const DOCUMENTS_IN_MEMORY = 500;
const FAILURES_IN_MEMORY = 5000;
const DEADLINE = 2500;

interface RememberedFailure {
  readonly failure: DocumentFailure;
  readonly until: number;
}

export function createClientDocuments(options: ClientDocumentsOptions): ClientDocuments {
  const { clock, network, budget, log, deadline = DEADLINE } = options;
  const memory = new LRUCache<string, Known>({ max: DOCUMENTS_IN_MEMORY });
  const { load, judged, save } = documentRecords({ ...options, memory });
  const failures = new LRUCache<string, RememberedFailure>({ max: FAILURES_IN_MEMORY });
  const fetches = new Map<string, Promise<Known>>();
  options.watchCache?.('client_documents', memory);
  options.watchCache?.('client_document_failures', failures);

  const renew = async (clientId: string, last: Known | undefined, turn: FetchTurn): Promise<Known> => {
    const began = performance.now();
    try {
      const fetched = await fetchDocument(new URL(clientId), network, deadline).finally(turn.end);
      const fetchedAt = clock();
      const document = readDocument(clientId, fetched.body);
      const freshUntil = fetchedAt + freshFor(fetched.cacheControl);
      const known = judged({ document, fetchedAt, freshUntil, used: last?.used ?? false });
      failures.delete(clientId);
      await save(clientId, known);
      return known;
    } catch (thrown) {
      if (!(thrown instanceof DocumentFailure)) throw thrown;
      logFailure(clientId, thrown);
      failures.set(clientId, { failure: thrown, until: clock() + FAILURE_LASTS });
      // The time that a failure took would reveal what is at the address. For unknown documents, all failures therefore
      // take the same time.
      const telling = last === undefined && thrown.kind !== 'refused';
      if (telling) await sleep(Math.max(0, deadline - (performance.now() - began)));
      throw thrown;
    }
  };

  const isUsable = (last: Known): boolean => clock() < last.freshUntil + STALE_IF_ERROR;

  const logFailure = (clientId: string, failure: DocumentFailure) =>
    log.warn({ client: clientId, kind: failure.kind, err: failure }, 'a client metadata document cannot be used');

  const fetchedSince = (clientId: string): Promise<Known> | undefined => {
    const held = memory.get(clientId);
    return held !== undefined && clock() < held.freshUntil ? Promise.resolve(held) : undefined;
  };

  /** Answers that need no fetch: a fetch in progress, or a recent failure. */
  const withoutFetch = (clientId: string): Promise<Known> | undefined => {
    const running = fetches.get(clientId);
    if (running !== undefined) return running;
    const remembered = failures.get(clientId);
    return remembered !== undefined && clock() < remembered.until ? Promise.reject(remembered.failure) : undefined;
  };

  /**
   * Runs one fetch at a time per document, and does not retry a failure for a while. Each request waits for its own
   * turn before it joins a fetch that has not begun, so that a request from a network with no share left does not make
   * others fail with it. If there is a document to fall back on, nothing is waited for.
   */
  const fetchOnce = async (clientId: string, last: Known | undefined): Promise<Known> => {
    const known = withoutFetch(clientId);
    if (known !== undefined) return known;
    const address = currentRequest()?.provenance.clientAddress ?? '';
    const patience = last !== undefined && isUsable(last) ? 0 : deadline;
    const asked = { host: new URL(clientId).hostname, address, patience };
    let turn: FetchTurn;
    try {
      turn = await budget.enter(asked);
    } catch (thrown) {
      const meanwhile = withoutFetch(clientId) ?? fetchedSince(clientId);
      if (meanwhile !== undefined) return meanwhile;
      if (thrown instanceof DocumentFailure) logFailure(clientId, thrown);
      throw thrown;
    }
    const meanwhile = withoutFetch(clientId) ?? fetchedSince(clientId);
    if (meanwhile !== undefined) {
      turn.unused();
      return meanwhile;
    }
    const fetching = renew(clientId, last, turn).finally(() => fetches.delete(clientId));
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
      if (isUsable(last)) return last;
      throw new DocumentFailure('overdue', 'has been unavailable for too long', thrown);
    }
  };

  const renewInBackground = (clientId: string, last: Known): void => {
    if (clock() < last.freshUntil || urlProblem(clientId, options) !== undefined) return;
    // Failures are logged where they occur. The last good document remains valid.
    fetchOnce(clientId, last).catch(() => undefined);
  };

  return {
    async current(clientId) {
      await current(clientId);
    },

    async approved(clientId) {
      requireGoodUrl(clientId);
      const last = await load(clientId);
      const usable = last !== undefined && isUsable(last);
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

/**
 * Whether the last good document remains valid after a failure: yes if its host failed, no if the host withdrew or
 * changed it.
 */
function outlasts(thrown: unknown): boolean {
  return thrown instanceof DocumentFailure && (thrown.kind === 'unavailable' || thrown.kind === 'busy');
}

function freshFor(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return USUALLY_FRESH;
  const seconds = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,10})/i.exec(cacheControl)?.[1];
  if (seconds === undefined || /(?:^|,)\s*no-(?:store|cache)\b/i.test(cacheControl)) return SHORTEST_FRESH;
  return Math.min(LONGEST_FRESH, Math.max(SHORTEST_FRESH, Number(seconds) * 1000));
}
