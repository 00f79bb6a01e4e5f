/**
 * Why a client document cannot be used:
 *
 * - `forbidden`: the URL is none we would ask for a document. Nothing was resolved.
 * - `unavailable`: no document came: the name, the connection, the status, the type, the size, the time.
 * - `gone`: the host says that there is none (404, 410).
 * - `unusable`: what came does not say that it is this URL's client document.
 * - `refused`: it is the client's own document, and asks for what we do not serve. The one that is told in words: whoever
 *   reads the answer can read the document at its public address.
 * - `overdue`: it was good once, and its host has not answered for longer than the last good one is used.
 * - `busy`: the budget is spent; nothing was asked.
 */
export type DocumentFailureKind = 'forbidden' | 'unavailable' | 'gone' | 'unusable' | 'refused' | 'overdue' | 'busy';

/** The message is for the log, except of `refused`. */
export class DocumentFailure extends Error {
  readonly kind: DocumentFailureKind;

  constructor(kind: DocumentFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DocumentFailure';
    this.kind = kind;
  }
}
