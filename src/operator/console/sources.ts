import type { Controls } from '../../actions/controls.ts';
import type { AreaNames } from '../../authorization-server/connected-apps/areas.ts';
import type { Usage } from '../../authorization-server/connected-apps/usage.ts';
import type { Grants } from '../../authorization-server/grants.ts';
import type { EventsState } from '../../events/state.ts';
import type { Observer } from '../../operations/observe/observer.ts';
import type { TrafficMinutes } from '../../operations/record/minutes.ts';
import type { Recorder } from '../../operations/record/recorder.ts';
import type { Trail } from '../../operations/record/trail.ts';
import type { Clock, Store } from '../../storage/store.ts';
import type { Directory } from './directory/directory.ts';
import type { Times } from './kit/times.ts';
import type { Configuration, RouteProposals } from './operate/proposal.ts';
import type { GateStatus } from './overview/gate-status.ts';
import type { GateSetting } from './recorder/causes/cause.ts';

/** What the pages are made from. Each takes what it needs of it, as `Sources` of these names. */
export interface ConsoleSources {
  /** The name of the course site. */
  readonly school: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly times: Times;
  /** Receives internal errors: of a panel, and of an action that took longer than its page. */
  readonly onError: (error: unknown) => void;
  readonly controls: Controls;
  readonly grants: Pick<Grants, 'find' | 'list' | 'count' | 'unredeemed'>;
  readonly usage: Pick<Usage, 'of'>;
  readonly directory: Directory;
  readonly trail: Pick<Trail, 'of' | 'between'>;
  readonly traffic: Pick<TrafficMinutes, 'recent'>;
  readonly recorder: Pick<Recorder, 'list'>;
  /** What explains a refusal. */
  readonly setting: GateSetting;
  /** The gate's own state. Does not wait for the store longer than a request may. */
  readonly gate: () => Promise<GateStatus>;
  /** Undefined when the backend receives no events. Rejects while the store is down. */
  readonly events: () => Promise<EventsState | undefined>;
  readonly scopes: AreaNames['scopes'];
  readonly tools: AreaNames['tools'];
  /** Whether new apps can become known at all, by the configuration. */
  readonly takesNewApps: boolean;
  /** Undefined when routes are enforced. */
  readonly observer: Pick<Observer, 'report' | 'yaml'> | undefined;
  readonly configuration: Configuration;
  /** Of the routes that were observed; undefined when routes are enforced. */
  readonly proposals: RouteProposals | undefined;
}

/** What one page needs of them. */
export type Sources<Name extends keyof ConsoleSources> = Pick<ConsoleSources, Name>;
