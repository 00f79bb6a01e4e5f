/** What goes wrong, and when: simulated milliseconds after the beginning. */
export type Fault =
  /** Calls of the store in that time have this trouble, each with this probability. */
  | {
      readonly kind: 'store';
      readonly from: number;
      readonly until: number;
      /** `refused`: an error at once. `timeout`: it never arrives. `unanswered`: it is applied, and the answer is lost. */
      readonly trouble: 'refused' | 'timeout' | 'unanswered' | 'late' | 'read-only';
      readonly chance: number;
    }
  /**
   * The primary is lost: `takes` milliseconds later the standby takes over, without what it had not received. It received
   * nothing in the last `lag` milliseconds.
   */
  | { readonly kind: 'failover'; readonly at: number; readonly lag: number; readonly takes: number }
  /** The standby receives nothing in that time. */
  | { readonly kind: 'standby away'; readonly from: number; readonly until: number }
  /** The gate in this place dies at its first, second … step after that time, and starts again after `down` milliseconds. */
  | {
      readonly kind: 'crash';
      readonly gate: number;
      readonly at: number;
      readonly steps: number;
      readonly down: number;
      /** Its machine loses power, too: what its disk has not synced is lost or torn. */
      readonly power?: boolean;
      /** Milliseconds between that step and its end: 0 by default. */
      readonly delay?: number;
    }
  | {
      readonly kind: 'bus';
      readonly from: number;
      readonly until: number;
      readonly trouble: 'lost' | 'twice' | 'late' | 'failing';
    }
  /** The backend takes up to `takes` milliseconds to say whether a member may go on. Otherwise it says so at once. */
  | { readonly kind: 'backend'; readonly from: number; readonly until: number; readonly takes: number }
  | { readonly kind: 'clock'; readonly gate: number; readonly at: number; readonly by: number }
  /** Answers of gates do not reach their client, each with this probability. */
  | { readonly kind: 'answers'; readonly from: number; readonly until: number; readonly chance: number };

const ACTIONS = [
  /** The app refreshes with its newest token, and repeats until it has an answer. */
  'refresh',
  /** The same, sent twice at once. */
  'refresh twice',
  /** The app shows a token that it has replaced. */
  'refresh replaced',
  /** The app redeems its code, and may send it twice. */
  'exchange',
  'exchange again',
  /** An access token is shown at a gate. */
  'use',
  /** Someone copies the newest refresh token, or the code. */
  'steal',
  'thief',
  'member cuts off',
  'app revokes',
  'operator ends',
  'operator suspends',
  'operator resumes',
  'keys rotate',
  /** The configuration of one gate is loaded again. */
  'reload',
] as const;

export interface Action {
  readonly kind: (typeof ACTIONS)[number];
  /** Simulated milliseconds after the beginning. */
  readonly at: number;
  /** Its number in the plan, which names its choices. */
  readonly id: number;
  readonly connection: number;
  readonly gate: number;
  /** It happens at each await of the work with this name instead, at the gate that does the work. */
  readonly during?: string;
}

export interface Plan {
  readonly seed: number;
  readonly gates: number;
  /** A file on a disk, for one gate, or a server, for several. */
  readonly store: 'sqlite' | 'server';
  /** Whether configurations are loaded again. */
  readonly reloads: boolean;
  /** Whether the backend is sent events. */
  readonly events: boolean;
  /** Whether the tokens of the apps are bound to their keys (DPoP). */
  readonly bound: boolean;
  /** The members of the connections, one for each. */
  readonly members: readonly string[];
  /** Whether commits wait for the standby. */
  readonly durable: boolean;
  readonly actions: readonly Action[];
  readonly faults: readonly Fault[];
  /** When everything works again, and the last look begins. */
  readonly calm: number;
}
