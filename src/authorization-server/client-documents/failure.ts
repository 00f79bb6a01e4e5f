/**
 * Why a client document cannot be used:
 *
 * - `forbidden`: the URL is not one that we fetch documents from. No name was resolved.
 * - `unavailable`: no document was received, because of its host name, connection, status, type, size or time. Without
 *   any response, there is a cause: the error of the connection.
 * - `gone`: the host says that there is no document (404, 410).
 * - `unusable`: the response is not a client document for this URL.
 * - `refused`: it is the client's own document, but asks for something we do not support.
 * - `overdue`: it was good once, but its host has been unavailable for longer than the last good document may be used.
 * - `closed`: it is new, and the operator has closed registration. Nothing was fetched.
 * - `busy`: the fetch budget is used up. Nothing was fetched.
 */
export type DocumentFailureKind =
  | 'forbidden'
  | 'closed'
  | 'unavailable'
  | 'gone'
  | 'unusable'
  | 'refused'
  | 'overdue'
  | 'busy';

/**
 * The message is shown to the client: it says what is wrong with the URL or with what anyone gets from its public
 * address, never how a name resolved or a connection failed. That is in the cause, for the log.
 */
export class DocumentFailure extends Error {
  readonly kind: DocumentFailureKind;

  constructor(kind: DocumentFailureKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DocumentFailure';
    this.kind = kind;
  }
}
