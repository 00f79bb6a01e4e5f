import type { Named } from '../../support/turns.ts';
import type { Upstream } from '../upstream.ts';

export interface PeerContext {
  readonly folder: string;
  readonly upstream: Upstream;
  readonly workers: 1 | 2;
  /** The CPU it is pinned to; undefined with two workers. */
  readonly processor: number | undefined;
  /** Access tokens that were not issued by our gate, for the peers' token services. */
  readonly tokens: readonly string[];
}

/** A running proxy. */
export interface Running {
  readonly port: number;
  /** Processes whose CPU time counts. Their descendants are found. */
  readonly roots: readonly number[];
  /** The inspector's port, if it is a single Node process. */
  readonly inspector?: number;
  /** Its clients' tokens; empty if it does not check tokens. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

export interface Peer extends Named {
  /** Names of its processes, in the order of `roots`; omitted if there is only one. */
  readonly processes?: readonly string[];
  start(context: PeerContext): Promise<Running>;
}
