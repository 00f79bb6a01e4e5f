import type { LRUCache } from 'lru-cache';
import { chargeTo, UNUSED_DOCUMENTS } from '../../storage/quota.ts';
import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';
import { type ClientDocument, metadataOf } from './document.ts';
import { DocumentFailure } from './failure.ts';

const KIND = 'ClientDocument';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * How long a document is stored: while a member decides, and from the first token on as long as a refresh token may be
 * idle. Anyone can make us fetch a document, but only an approval makes us keep it.
 */
const KEPT_UNUSED = 30 * MINUTE;
const KEPT_USED = 30 * DAY;
/** A document in the store. Times in milliseconds. */
interface DocumentRecord {
  readonly document: ClientDocument;
  readonly fetchedAt: number;
  readonly freshUntil: number;
  readonly used: boolean;
}

export interface StoredDocument extends DocumentRecord {
  readonly metadata: string;
}

export interface DocumentRecordsOptions {
  /** The scope that every client is registered with. */
  readonly scope: string;
  readonly store: Store;
  readonly clock: Clock;
  /** Checks metadata by the rules for registrations. Throws if it is not acceptable. */
  readonly validate: (metadata: Record<string, unknown>) => void;
  readonly memory: LRUCache<string, StoredDocument>;
}

/** Fetched documents by client_id: in memory, and in the store for other replicas. */
export function documentRecords({ scope, store, clock, validate, memory }: DocumentRecordsOptions) {
  /** Throws DocumentFailure `refused`. */
  const validated = (record: DocumentRecord): StoredDocument => {
    try {
      const metadata = metadataOf(record.document, scope);
      validate(metadata);
      return { ...record, metadata: JSON.stringify(metadata) };
    } catch (thrown) {
      if (thrown instanceof DocumentFailure) throw thrown;
      const { error_description, message } = thrown as Error & { readonly error_description?: string };
      throw new DocumentFailure('refused', error_description ?? message, thrown);
    }
  };

  /** Ignores a stored document that the current configuration no longer accepts. */
  const accept = (record: DocumentRecord): StoredDocument | undefined => {
    try {
      return validated(record);
    } catch {
      return undefined;
    }
  };

  return {
    validated,

    /** The newest good document: this process's or, if that is stale, one that another replica may have stored. */
    async load(clientId: string): Promise<StoredDocument | undefined> {
      const held = memory.get(clientId);
      if (held !== undefined && clock() < held.freshUntil) return held;
      const stored = await store.get(KIND, clientId);
      if (stored === undefined) return held;
      const record = JSON.parse(stored.payload) as DocumentRecord;
      if (held !== undefined && held.fetchedAt >= record.fetchedAt) return held;
      const known = accept(record);
      if (known !== undefined) memory.set(clientId, known);
      return known;
    },

    async save(clientId: string, known: StoredDocument): Promise<void> {
      memory.set(clientId, known);
      const { metadata: _derived, ...record } = known;
      const kept = known.used ? KEPT_USED : KEPT_UNUSED;
      const expiresAt = unixSeconds(() => Math.max(clock(), known.fetchedAt) + kept);
      const charge = known.used ? undefined : chargeTo(UNUSED_DOCUMENTS);
      const entry = { kind: KIND, id: clientId, payload: JSON.stringify(record), expiresAt, references: {}, charge };
      // A refresh may wait for the document of an app in use.
      await store.commit([{ op: 'put', entry }], known.used ? 'vital' : 'ordinary');
    },
  };
}

export type DocumentRecords = ReturnType<typeof documentRecords>;
