import type { Request } from './request.ts';

/** What a connection of type `C` reports to the client that it belongs to. */
export interface ConnectionOwner<C> {
  readonly host: string;
  readonly port: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** Starts the deadline for the head of the response. */
  waits(request: Request): void;
  /** Ends it. */
  waitsNoMore(request: Request): void;
  /** The connection can take another request within `keep` milliseconds. */
  released(connection: C, keep: number): void;
  closed(connection: C): void;
}
