import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { currentRequest } from '../../http/current-request.ts';
import type { Log } from '../../operations/log.ts';
import type { Clock } from '../../storage/store.ts';
import type { FetchBudget, FetchTurn } from './budget.ts';
import { readDocument } from './document.ts';
import type { DocumentRecords, DocumentRecordsOptions, StoredDocument } from './document-records.ts';
import { DocumentFailure } from './failure.ts';
import { DOCUMENT_DEADLINE, fetchDocument } from './fetch-document.ts';
import type { DocumentNetwork } from './network.ts';
import type { UrlRule } from './url-rule.ts';

export interface ClientDocumentsOptions extends UrlRule, Omit<DocumentRecordsOptions, 'memory'> {
  readonly log: Log;
  readonly network: DocumentNetwork;
  readonly budget: FetchBudget;
  /** Registers the in-memory caches for metrics. */
  readonly watchCache?: (name: string, cache: { readonly size: number; readonly max: number }) => void;
  /** Milliseconds for one fetch, and for the wait until it may begin. */
  readonly deadline?: number;
}

/**
 * Fetches a document, or joins a fetch in progress. Each document is fetched by one request at a time, and a failure is
 * not retried for a while. Throws DocumentFailure.
 * @param last - the document to fall back on, if there is one
 */
export type DocumentFetches = (clientId: string, last: StoredDocument | undefined) => Promise<StoredDocument>;

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

const FAILURES_IN_MEMORY = 5000;

interface RememberedFailure {
  readonly failure: DocumentFailure;
  readonly until: number;
}

export function isFresh(document: StoredDocument | undefined, clock: Clock): document is StoredDocument {
  return document !== undefined && clock() < document.freshUntil;
}

export function isUsable(document: StoredDocument | undefined, clock: Clock): document is StoredDocument {
  return document !== undefined && clock() < document.freshUntil + STALE_IF_ERROR;
}

interface Documents {
  readonly memory: { get(clientId: string): StoredDocument | undefined };
  readonly records: Pick<DocumentRecords, 'validated' | 'save'>;
}

export function documentFetches(options: ClientDocumentsOptions & Documents): DocumentFetches {
  const { budget, clock, log, memory, network, records, deadline = DOCUMENT_DEADLINE } = options;
  const running = new Map<string, Promise<StoredDocument>>();
  const failures = new LRUCache<string, RememberedFailure>({ max: FAILURES_IN_MEMORY });
  options.watchCache?.('client_document_failures', failures);

  const logFailure = (clientId: string, failure: DocumentFailure): void =>
    log.warn({ client: clientId, kind: failure.kind, err: failure }, 'a client metadata document cannot be used');

  /** Answers that need no fetch: a fetch in progress, or a recent failure. */
  const withoutFetch = (clientId: string): Promise<StoredDocument> | undefined => {
    const remembered = failures.get(clientId);
    const failed = remembered !== undefined && clock() < remembered.until;
    return running.get(clientId) ?? (failed ? Promise.reject(remembered.failure) : undefined);
  };

  const renew = async (clientId: string, last: StoredDocument | undefined, turn: FetchTurn) => {
    const began = performance.now();
    try {
      const fetched = await fetchDocument(new URL(clientId), network, deadline).finally(turn.end);
      const fetchedAt = clock();
      const document = readDocument(clientId, fetched.body);
      const freshUntil = fetchedAt + freshFor(fetched.cacheControl);
      const known = records.validated({ document, fetchedAt, freshUntil, used: last?.used ?? false });
      failures.delete(clientId);
      await records.save(clientId, known);
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

  // Each request waits for its own turn before it joins a fetch that has not begun, so that a request from a network with
  // no share left does not make others fail with it. If there is a document to fall back on, nothing is waited for.
  return async (clientId, last) => {
    const known = withoutFetch(clientId);
    if (known !== undefined) return known;
    const address = currentRequest()?.provenance.clientAddress ?? '';
    const patience = isUsable(last, clock) ? 0 : deadline;
    const turn = await budget
      .enter({ host: new URL(clientId).hostname, address, patience })
      .catch((thrown: DocumentFailure) => thrown);
    const held = memory.get(clientId);
    const answer = withoutFetch(clientId) ?? (isFresh(held, clock) ? Promise.resolve(held) : undefined);
    if (turn instanceof DocumentFailure) {
      if (answer === undefined) logFailure(clientId, turn);
      return answer ?? Promise.reject(turn);
    }
    if (answer !== undefined) {
      turn.unused();
      return answer;
    }
    const fetching = renew(clientId, last, turn).finally(() => running.delete(clientId));
    running.set(clientId, fetching);
    return fetching;
  };
}

function freshFor(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return USUALLY_FRESH;
  const seconds = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,10})/i.exec(cacheControl)?.[1];
  if (seconds === undefined || /(?:^|,)\s*no-(?:store|cache)\b/i.test(cacheControl)) return SHORTEST_FRESH;
  return Math.min(LONGEST_FRESH, Math.max(SHORTEST_FRESH, Number(seconds) * 1000));
}
