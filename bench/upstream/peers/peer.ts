import type { Upstream } from '../upstream.ts';

export interface PeerContext {
  readonly folder: string;
  readonly upstream: Upstream;
  readonly workers: 1 | 2;
  /** The processor it is pinned to; undefined when there are two workers. */
  readonly processor: number | undefined;
  /** Access tokens that gates of ours have not issued: for the token services of others. */
  readonly tokens: readonly string[];
}

/** A proxy that runs and is measured. */
export interface Running {
  readonly port: number;
  /** Every process whose time is the subject's, without their children. */
  readonly roots: readonly number[];
  /** The port its inspector would have, when it is one Node process. */
  readonly inspector?: number;
  /** What clients show it; empty for one that checks none. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

export interface Peer {
  readonly name: string;
  /** Why it cannot run here, with what to install; undefined: it can. */
  readonly missing?: string | undefined;
  start(context: PeerContext): Promise<Running>;
}
