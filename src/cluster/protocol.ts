import type { LoadedConfig } from '../config/load.ts';
import type { AuditEvent } from '../operations/audit.ts';
import type { Health } from '../operations/health.ts';
import type { CollectedMetrics } from '../operations/metrics-sum.ts';
import type { Counted } from '../operations/observe/observations.ts';
import type { PlaceLimit } from '../storage/places.ts';
import type { Illness } from '../storage/shared.ts';

/** A configuration as it can be sent: without its way back to the files. */
export type SentConfig = Omit<LoadedConfig, 'sources' | 'written' | 'mistaken'>;

/** What kept a worker from starting, as far as an error can be sent. */
export interface SentFailure {
  /** Whether it is a mistake in the configuration, which the primary can name the place of. */
  readonly mistaken: boolean;
  readonly message: string;
  readonly cause: string | undefined;
  /** Node's error code, and the port that could not be listened on. */
  readonly code: string | undefined;
  readonly port: number | undefined;
}

/** What a worker is told when it begins. */
export interface Start {
  readonly sent: SentConfig;
  /** Of the files that it was made from. */
  readonly digest: string;
  /** Which of the workers it is: 1 to `workers`. One that takes over from another has its number. */
  readonly number: number;
  readonly workers: number;
  /** Whether it does what only one of them does. */
  readonly sweeps: boolean;
  /** What was found of the store before it began. */
  readonly illness: Illness | undefined;
}

/** An issued token, as far as the search for unused ones goes. */
type Issued = Pick<AuditEvent, 'action' | 'clientId' | 'clientHost' | 'grantId'>;

/** What the primary answers. */
export type PrimaryAnswers = {
  begin: (nothing: null) => Start;
  /** It cannot start. */
  failed: (failure: SentFailure) => void;
  /** It listens. */
  listening: (nothing: null) => void;
  /** Something was revoked. Answered once all other workers know. */
  revoked: (nothing: null) => void;
  /** Adds to a count. */
  count: (added: { key: string; count: number; per: number }) => { count: number; milliseconds: number };
  /** Takes places for an attempt; out: their number, or how long to wait for some. */
  take: (limits: readonly PlaceLimit[]) => { place: number } | { wait: number };
  giveBack: (given: { place: number; counts: boolean }) => void;
  ill: (illness: Illness) => void;
  issued: (event: Issued) => void;
  /** A token of this grant was shown. */
  used: (grantId: string) => void;
  /** What the admin listener says of all workers together. */
  ready: (nothing: null) => Health;
  metrics: (nothing: null) => { contentType: string; text: string };
  observed: (nothing: null) => Counted | undefined;
  /** The last that a worker says: its counts stay in the sums. Answered once no more connection can be on its way to it. */
  leaving: (last: { metrics: CollectedMetrics; observed: Counted | undefined }) => void;
};

/** What a worker answers. */
export type WorkerAnswers = {
  /** Forgets what it remembers of tokens. */
  revoked: (nothing: null) => void;
  ready: (nothing: null) => Health;
  metrics: (nothing: null) => CollectedMetrics;
  observed: (nothing: null) => Counted | undefined;
  /** From now on it is the one that does what only one does. */
  sweep: (nothing: null) => void;
  ill: (illness: Illness) => void;
  /** Ends what is in flight and goes: as configured, or within so many seconds. */
  drain: (seconds: number | null) => void;
  /** Serves by another configuration from now on; out: why not, or null. */
  reload: (next: Pick<Start, 'sent' | 'digest' | 'workers'>) => string | null;
};
