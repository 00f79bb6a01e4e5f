import { hash as digest } from 'node:crypto';
import { isObject } from '../http/json-object.ts';
import { type Mistakes, placeOfKey } from './connect/mistakes.ts';
import type { CheckDocument } from './documents.ts';
import type { TextFile } from './settings-files.ts';

/** Trusted documents, keyed by the ID that clients send. */
export type TrustedDocuments = ReadonlyMap<string, string>;

/**
 * Reads a JSON object of documents by ID, as code generators write it. An ID of the form `sha256:…` must be the hash of
 * its document; every document is also available under its hash. Documents are validated now, so that none fails at
 * run time. Mistakes are added to the list.
 */
export function readTrustedDocuments(
  { file, text }: TextFile,
  check: CheckDocument,
  mistakes: Mistakes,
): TrustedDocuments {
  const documents = new Map<string, string>();
  const wrong = (id: string, message: string) => mistakes.add(placeOfKey(file, text, id), id || 'documents', message);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    wrong('', 'is not JSON');
    return documents;
  }
  if (!isObject(parsed)) {
    wrong('', 'must be a JSON object of document ids and documents');
    return documents;
  }
  for (const [id, document] of Object.entries(parsed)) {
    if (typeof document !== 'string') {
      wrong(id, 'must be a document, as text');
      continue;
    }
    const hash = digest('sha256', document);
    if (id.startsWith('sha256:') && id.toLowerCase() !== `sha256:${hash}`) {
      wrong(id, `is not the SHA-256 of its document, which is ${hash}`);
      continue;
    }
    const checked = check(document);
    if (checked.document === undefined) {
      wrong(id, checked.errors.map(({ message }) => message).join(' '));
      continue;
    }
    documents.set(id, document);
    documents.set(`sha256:${hash}`, document);
  }
  return documents;
}
