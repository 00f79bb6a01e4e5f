import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Share } from '../../config/carried-over.ts';
import type { Config, RouteConfig } from '../../config/schema.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import { whenClosed } from '../../http/when-closed.ts';
import type { Clock } from '../../storage/store.ts';
import { callerOf } from './caller.ts';
import { createObservations, type ObservedRefusal } from './observations.ts';
import { type ObservedReport, observedJson, routeMapYaml } from './report.ts';
import { proposeRouteMap } from './route-map.ts';
import { createTraffic } from './traffic.ts';

export type Observer = NonNullable<ReturnType<typeof createObserver>>;

interface ObserverUses {
  /** Whether a Cookie field contains a session cookie. */
  readonly hasSession: (cookie: string) => boolean;
  readonly clock: Clock;
  /** Carries observations over from an earlier configuration. */
  readonly share: Share;
}

/** Undefined unless the configuration enables observe mode. */
export function createObserver(config: Config, { hasSession, clock, share }: ObserverUses) {
  const { site, routes: configured, scopes, origin } = config;
  if (config.enforcement.mode !== 'observe' || site === undefined) return undefined;
  const { since, observations, traffic } = share.acquire('observations', undefined, () => ({
    since: new Date(clock()),
    observations: createObservations(),
    traffic: createTraffic(clock),
  }));
  /** Everything that was counted, and what follows from it. */
  const report = (): ObservedReport => {
    const dropped = observations.dropped();
    // A route may have been changed or removed since it was observed.
    const routeNow = (route: RouteConfig | undefined) => configured.find(({ match }) => match === route?.match);
    const observed = observations.all().map((one) => ({ ...one, route: routeNow(one.route) }));
    const proposed = proposeRouteMap({ observed, dropped, configured, site: site.upstream, scopes });
    return { since, quietSince: traffic.quietSince(), dropped, observed, ...proposed };
  };
  return {
    /**
     * Whether a route is observed instead of enforced. Only routes to the site are, because that is where requests go
     * when they are let through.
     */
    watches: (route: RouteConfig): boolean => route.upstream === site.upstream,
    /** Records a request to the site or by an observed route, once it is over. */
    watch(
      request: IncomingMessage,
      response: ServerResponse,
      record: RequestRecord,
      { route, refusal }: { readonly route: RouteConfig | undefined; readonly refusal: ObservedRefusal },
    ): void {
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
    report,
    /** The proposed routes as YAML. */
    yaml: () => routeMapYaml(report()),
    /** The report in machine-readable form. */
    json: () => observedJson(report()),
    /** Logs, once, if no request arrives. Call it periodically. */
    warnIfQuiet: traffic.warnIfQuiet,
  };
}
