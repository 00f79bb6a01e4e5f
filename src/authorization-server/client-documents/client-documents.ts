/**
 * Clients identified by the URL of a Client ID Metadata Document. Fetches these documents safely, checks them by the
 * rules for registrations, and caches them.
 */

import { LRUCache } from 'lru-cache';
import { registrationSwitch } from '../administration/suspensions.ts';
import { type ClientDocumentsOptions, documentFetches, isFresh, isUsable } from './document-fetches.ts';
import { documentRecords, type StoredDocument } from './document-records.ts';
import { DocumentFailure } from './failure.ts';
import { urlProblem } from './url-rule.ts';

/** Finds the documents of clients, fetched or cached. All methods throw DocumentFailure. */
export type ClientDocuments = ReturnType<typeof createClientDocuments>;

const DOCUMENTS_IN_MEMORY = 500;

export function createClientDocuments(options: ClientDocumentsOptions) {
  const { store, clock, log } = options;
  const memory = new LRUCache<string, StoredDocument>({ max: DOCUMENTS_IN_MEMORY });
  options.watchCache?.('client_documents', memory);
  const records = documentRecords({ ...options, memory });
  const fetches = documentFetches({ ...options, memory, records });
  const registrationClosed = registrationSwitch(store, clock);

  const requireGoodUrl = (clientId: string): void => {
    const problem = urlProblem(clientId, options);
    if (problem === undefined) return;
    log.info({ client: clientId.slice(0, 200), problem }, 'a client_id is no URL of a client metadata document');
    throw new DocumentFailure('forbidden', problem);
  };

  /** The current document, or the last good one if its host does not answer. */
  const current = async (clientId: string, last: StoredDocument | undefined): Promise<StoredDocument> => {
    if (isFresh(last, clock)) return last;
    try {
      return await fetches(clientId, last);
    } catch (thrown) {
      if (last === undefined || !outlasts(thrown)) throw thrown;
      if (isUsable(last, clock)) return last;
      throw new DocumentFailure('overdue', 'has been unavailable for too long', thrown);
    }
  };

  const renewInBackground = (clientId: string, last: StoredDocument): void => {
    if (isFresh(last, clock) || urlProblem(clientId, options) !== undefined) return;
    // Failures are logged where they occur. The last good document remains valid.
    fetches(clientId, last).catch(() => undefined);
  };

  return {
    /**
     * For a new authorization: the current document, or the last good one if its host does not answer. While registration
     * is closed, only a document that is still stored.
     */
    async current(clientId: string): Promise<void> {
      requireGoodUrl(clientId);
      const last = await records.load(clientId);
      if (last === undefined && (await registrationClosed.since()) !== undefined)
        throw new DocumentFailure('closed', 'is of an app that is new here');
      await current(clientId, last);
    },

    /** For an existing approval: the last good document, renewed in the background. */
    async approved(clientId: string): Promise<void> {
      requireGoodUrl(clientId);
      const last = await records.load(clientId);
      const usable = isUsable(last, clock);
      const document = usable ? last : await current(clientId, last);
      if (!document.used) await records.save(clientId, { ...document, used: true });
      if (usable) renewInBackground(clientId, document);
    },

    /** For an access token, which lives for minutes: any known document, regardless of its age. */
    async known(clientId: string): Promise<void> {
      const last = await records.load(clientId);
      if (last !== undefined) return renewInBackground(clientId, last);
      requireGoodUrl(clientId);
      await current(clientId, last);
    },

    /** The client metadata, as JSON, of a document that one of the methods above has found. */
    async metadata(clientId: string): Promise<string> {
      const found = memory.get(clientId) ?? (await records.load(clientId));
      if (found === undefined) throw new DocumentFailure('unavailable', 'is not known');
      return found.metadata;
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
