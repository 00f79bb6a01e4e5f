/**
 * Clients identified by the URL of a Client ID Metadata Document. Fetches these documents safely, checks them by the
 * rules for registrations, and caches them.
 */

import { LRUCache } from 'lru-cache';
import { registrationSwitch } from '../administration/suspensions.ts';
import type { ClientDocumentsOptions } from './document-fetches.ts';
import { type DocumentFetches, documentFetches, isFresh, isUsable } from './document-fetches.ts';
import { type DocumentRecords, documentRecords, type StoredDocument } from './document-records.ts';
import { DocumentFailure } from './failure.ts';
import { urlProblem } from './url-rule.ts';

/** Finds the documents of clients, fetched or cached. All methods throw DocumentFailure. */
export type ClientDocuments = ReturnType<typeof createClientDocuments>;

const DOCUMENTS_IN_MEMORY = 500;

interface Parts extends ClientDocumentsOptions {
  readonly memory: LRUCache<string, StoredDocument>;
  readonly records: DocumentRecords;
  readonly fetches: DocumentFetches;
}

export function createClientDocuments(options: ClientDocumentsOptions) {
  const memory = new LRUCache<string, StoredDocument>({ max: DOCUMENTS_IN_MEMORY });
  options.watchCache?.('client_documents', memory);
  const records = documentRecords({ ...options, memory });
  const parts = { ...options, memory, records, fetches: documentFetches({ ...options, memory, records }) };
  return {
    /** For a new authorization: the current document, or the last good one if its host does not answer. */
    async current(clientId: string): Promise<void> {
      await refuseNew(parts, clientId);
      await current(parts, clientId);
    },
    /** For an existing approval: the last good document, renewed in the background. */
    approved: (clientId: string) => approved(parts, clientId),
    /** For an access token, which lives for minutes: any known document, regardless of its age. */
    known: (clientId: string) => known(parts, clientId),
    /** The client metadata, as JSON, of a document that one of the methods above has found. */
    metadata: (clientId: string) => metadata(parts, clientId),
  };
}

/** While registration is closed, only documents that are still stored may begin an authorization. */
async function refuseNew(parts: Parts, clientId: string): Promise<void> {
  requireGoodUrl(parts, clientId);
  const { records, store, clock } = parts;
  if ((await records.load(clientId)) !== undefined) return;
  if ((await registrationSwitch(store, clock).since()) !== undefined)
    throw new DocumentFailure('closed', 'is of an app that is new here');
}

async function current(parts: Parts, clientId: string): Promise<StoredDocument> {
  requireGoodUrl(parts, clientId);
  const { clock, records, fetches } = parts;
  const last = await records.load(clientId);
  if (isFresh(last, clock)) return last;
  try {
    return await fetches(clientId, last);
  } catch (thrown) {
    if (last === undefined || !outlasts(thrown)) throw thrown;
    if (isUsable(last, clock)) return last;
    throw new DocumentFailure('overdue', 'has been unavailable for too long', thrown);
  }
}

async function approved(parts: Parts, clientId: string): Promise<void> {
  requireGoodUrl(parts, clientId);
  const last = await parts.records.load(clientId);
  const usable = isUsable(last, parts.clock);
  const document = usable ? last : await current(parts, clientId);
  if (!document.used) await parts.records.save(clientId, { ...document, used: true });
  if (usable) renewInBackground(parts, clientId, document);
}

async function known(parts: Parts, clientId: string): Promise<void> {
  const last = await parts.records.load(clientId);
  if (last === undefined) await current(parts, clientId);
  else renewInBackground(parts, clientId, last);
}

async function metadata({ memory, records }: Parts, clientId: string): Promise<string> {
  const found = memory.get(clientId) ?? (await records.load(clientId));
  if (found === undefined) throw new DocumentFailure('unavailable', 'is not known');
  return found.metadata;
}

function requireGoodUrl(parts: Parts, clientId: string): void {
  const problem = urlProblem(clientId, parts);
  if (problem === undefined) return;
  parts.log.info({ client: clientId.slice(0, 200), problem }, 'a client_id is no URL of a client metadata document');
  throw new DocumentFailure('forbidden', problem);
}

function renewInBackground(parts: Parts, clientId: string, last: StoredDocument): void {
  if (isFresh(last, parts.clock) || urlProblem(clientId, parts) !== undefined) return;
  // Failures are logged where they occur. The last good document remains valid.
  parts.fetches(clientId, last).catch(() => undefined);
}

/**
 * Whether the last good document remains valid after a failure: yes if its host failed, no if the host withdrew or
 * changed it.
 */
function outlasts(thrown: unknown): boolean {
  return thrown instanceof DocumentFailure && (thrown.kind === 'unavailable' || thrown.kind === 'busy');
}
