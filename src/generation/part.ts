import type { AdminRoute } from '../operations/admin.ts';

/**
 * A part of the gate beside the path of a request: events, the Account API, tools, observe mode, decisions
 * for gateways, the console. `NAME/part.ts` opens it, from the foundation, the configuration and what it uses of the
 * gate. Every part can return these members. What other code uses of a part is declared by the part itself.
 */
export interface GatePart {
  /** What the admin listener answers for it, by path. */
  readonly admin?: Readonly<Record<string, AdminRoute>>;
  /** What readiness mentions of it. */
  readonly health?: string;
  /** Starts its background work, when the generation becomes current. */
  start?(): void;
  /** Ends its background work, before the next generation takes over and when everything is closed. Safe to repeat. */
  stop?(): Promise<void>;
}
