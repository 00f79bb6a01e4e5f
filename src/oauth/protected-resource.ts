/** One protected resource (RFC 9728 §2): what a token must be bound to, and where its metadata stands. */
export interface ProtectedResource {
  /** The resource identifier: the audience a token must carry, byte for byte. */
  readonly resource: string;
  /** Absolute URL of the RFC 9728 document that a challenge points to. */
  readonly metadataUrl: string;
}
