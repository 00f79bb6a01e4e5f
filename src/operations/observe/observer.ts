import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Share } from '../../config/carried-over.ts';
import type { Config, RouteConfig } from '../../config/schema.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import { whenClosed } from '../../http/when-closed.ts';
import type { Clock } from '../../storage/store.ts';
import type { Log } from '../log.ts';
import { callerOf } from './caller.ts';
import { createObservations, type Observation, type ObservedRefusal } from './observations.ts';
import { observedJson, routeMapYaml } from './report.ts';
import { proposeRouteMap, type RouteMap } from './route-map.ts';
import { createTraffic } from './traffic.ts';

export interface Observer {
  /**
   * Whether a route is observed instead of enforced. Only routes to the site are, because that is where requests go
   * when they are let through.
   */
  watches(route: RouteConfig): boolean;
  /** Records a request to the site or by an observed route, once it is over. */
  watch(
    request: IncomingMessage,
    response: ServerResponse,
    record: RequestRecord,
    about: { readonly route: RouteConfig | undefined; readonly refusal: ObservedRefusal },
  ): void;
  /** The proposed routes as YAML. */
  yaml(): string;
  /** Everything that was counted. */
  json(): object;
  /** The same, for the console. */
  report(): ObservedReport;
  /** Logs, once, if no request arrives. Call it periodically. */
  warnIfQuiet(log: Pick<Log, 'warn'>): void;
}

export interface ObservedReport extends RouteMap {
  readonly since: Date;
  /** Since when no request has arrived, if that is too long. */
  readonly quietSince: Date | undefined;
  /** Requests that were not recorded. */
  readonly dropped: number;
  readonly observed: readonly Observation[];
}

interface ObserverUses {
  /** Whether a Cookie field contains a session cookie. */
  readonly hasSession: (cookie: string) => boolean;
  readonly clock: Clock;
  /** Carries observations over from an earlier configuration. */
  readonly share: Share;
}

/** Undefined unless the configuration enables observe mode. */
export function createObserver(config: Config, { hasSession, clock, share }: ObserverUses): Observer | undefined {
  const { site, routes: configured, scopes, origin } = config;
  if (config.enforcement.mode !== 'observe' || site === undefined) return undefined;
  const { since, observations, traffic } = share.acquire('observations', undefined, () => ({
    since: new Date(clock()),
    observations: createObservations(),
    traffic: createTraffic(clock),
  }));
  // A route may have been changed or removed since it was observed.
  const observed = () =>
    observations.all().map((one) => ({ ...one, route: configured.find(({ match }) => match === one.route?.match) }));
  const map = (seen: ReturnType<typeof observed>) =>
    proposeRouteMap({ observed: seen, dropped: observations.dropped(), configured, site: site.upstream, scopes });
  return {
    watches: (route) => route.upstream === site.upstream,
    watch(request, response, record, { route, refusal }) {
      traffic.came();
      const isApp = record.principal?.kind === 'member';
      const session = hasSession(request.headers.cookie ?? '');
      const caller = callerOf(request, { origin, isApp, hasSession: session });
      whenClosed(response, () =>
        observations.note({
          method: record.method,
          path: record.path,
          route,
          refusal,
          signedIn: isApp || session,
          caller,
          status: response.headersSent ? response.statusCode : 0,
          mediaType: record.mediaType,
        }),
      );
    },
    yaml: () => routeMapYaml(map(observed()), { since, quietSince: traffic.quietSince() }),
    json() {
      const seen = observed();
      const counts = { since, quietSince: traffic.quietSince(), dropped: observations.dropped() };
      return observedJson(seen, map(seen), counts);
    },
    report() {
      const seen = observed();
      return {
        ...{ since, quietSince: traffic.quietSince(), dropped: observations.dropped() },
        ...{ observed: seen, ...map(seen) },
      };
    },
    warnIfQuiet: traffic.warnIfQuiet,
  };
}
