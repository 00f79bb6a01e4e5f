// What is known from outside: what clients and members were told, and when. Times are simulated milliseconds.

/** A code, a refresh token or an access token that a gate has given out. */
export interface Token {
  /** Stable, such as `R1.2`: of the first connection, after two refreshes. */
  readonly name: string;
  readonly kind: 'code' | 'refresh' | 'access';
  readonly value: string;
  readonly connection: Connection;
  /** How many refreshes came before it. */
  readonly generation: number;
  /** What was presented for it. */
  readonly from: Token | undefined;
  /** When it was first told to a client. */
  readonly told: number;
  /** The number of the commit that issued it, as far as it is known. */
  commit: number;
  /** When a failover lost it; undefined if none did. */
  lostAt: number | undefined;
  /** The refresh tokens that clients were told for it. */
  readonly successors: Token[];
}

/** One approval: what a member allowed one app. */
export interface Connection {
  readonly name: string;
  readonly number: number;
  readonly member: string;
  readonly grantId: string;
  /** Since when it may have ended, and why; undefined while nothing can have ended it. */
  doubt: { readonly since: number; readonly why: string } | undefined;
  /** All that may have ended it. */
  readonly causes: Set<string>;
  /** Who was told that it has ended, by whom, and when. */
  readonly ends: End[];
}

export interface End {
  readonly at: number;
  /** The name of the gate's life that said so; '' if it may have been another one. */
  readonly by: string;
  /** The promise that it calls upon. */
  readonly as: 'revoked' | 'reuse' | 'suspended';
}

/** A request with a code or a refresh token. */
export interface TokenRequest {
  readonly who: 'app' | 'thief';
  readonly name: string;
  readonly shown: Token;
  readonly start: number;
  /** The name of the gate's life; undefined if no gate was there. */
  life: string | undefined;
  /** The token is bound to a key, and it is shown without. */
  readonly lacksKey: boolean;
  /** Its proof of the key, which someone may have copied. */
  readonly proof: string | undefined;
}

/** A look at an access token by a gate. */
export interface Look {
  readonly token: Token;
  readonly life: string;
  /** Milliseconds on the clock of the gate, and simulated. */
  readonly start: number;
  readonly startOnClock: number;
  endOnClock: number | undefined;
  /** Whether it was looked up in the store, and not in the cache. */
  readonly lookedUp: boolean;
}
