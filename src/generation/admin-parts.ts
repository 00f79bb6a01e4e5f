import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { Share } from '../config/carried-over.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { InFlight } from '../request/in-flight.ts';
import type { Pools } from '../upstream/pools.ts';

export interface AdminParts {
  readonly foundation: Foundation;
  readonly server: Pick<AuthorizationServer, 'controls' | 'grants'>;
  readonly events: Pick<Events, 'state' | 'retry'>;
  readonly pools: Pools;
  /** Undefined when routes are enforced. */
  readonly observer: Observer | undefined;
  readonly inFlight: InFlight;
  readonly share: Share;
  /** Whether the gate is shutting down. */
  readonly draining: () => boolean;
}
