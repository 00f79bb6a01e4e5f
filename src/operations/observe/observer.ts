import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Share } from '../../config/carried-over.ts';
import type { Config, RouteConfig } from '../../config/schema.ts';
import type { RequestRecord } from '../../http/request-record.ts';
import { whenClosed } from '../../http/when-closed.ts';
import { type Counted, createObservations, type Refusal } from './observations.ts';
import { observedJson, routeMapYaml } from './report.ts';
import { proposeRouteMap } from './route-map.ts';

export interface Observer {
  /** Whether a route is watched and not held to: it leads to the site, which is where requests go that are let through. */
  watches(route: RouteConfig): boolean;
  /** Notes, when it is over, a request to the site or by a route that is watched. */
  watch(
    request: IncomingMessage,
    response: ServerResponse,
    record: RequestRecord,
    about: { readonly route: RouteConfig | undefined; readonly refusal: Refusal },
  ): void;
  /** What this process has counted. */
  counted(): Counted;
  /** The proposed routes as YAML; everything that was counted as JSON. In: what all have counted; left out, this one's. */
  yaml(counted?: Counted): string;
  json(counted?: Counted): object;
}

export interface ObserverOptions {
  readonly config: Config;
  /** Whether a Cookie field holds the cookie of a session. */
  readonly hasSession: (cookie: string) => boolean;
  readonly clock: () => number;
  /** Of what was observed under an earlier configuration. */
  readonly share: Share;
}

/** Undefined unless the configuration asks for observe mode. */
export function createObserver({ config, hasSession, clock, share }: ObserverOptions): Observer | undefined {
  const { site, routes: configured, scopes } = config;
  if (config.enforcement.mode !== 'observe' || site === undefined) return undefined;
  const { since, observations } = share.take('observations', undefined, () => ({
    since: new Date(clock()),
    observations: createObservations(),
  }));
  /** In: what all have counted; undefined: what this process has. A route may have been changed or taken out since. */
  const of = (counted: Counted | undefined) => {
    if (counted === undefined) {
      const all = observations.all();
      const observed = all.map((one) => ({
        ...one,
        route: configured.find(({ match }) => match === one.route?.match),
      }));
      return { observed, dropped: observations.dropped(), from: since };
    }
    const sum = createObservations();
    sum.absorb(counted, configured);
    return { observed: sum.all(), dropped: sum.dropped(), from: new Date(counted.since) };
  };
  const map = ({ observed, dropped }: Pick<ReturnType<typeof of>, 'observed' | 'dropped'>) =>
    proposeRouteMap({ observed, dropped, configured, site: site.upstream, scopes });
  return {
    watches: (route) => route.upstream === site.upstream,
    watch(request, response, record, { route, refusal }) {
      const signedIn = record.principal?.kind === 'member' || hasSession(request.headers.cookie ?? '');
      whenClosed(response, () =>
        observations.note({
          method: record.method,
          path: record.path,
          route,
          refusal,
          signedIn,
          status: response.headersSent ? response.statusCode : 0,
          mediaType: record.mediaType,
        }),
      );
    },
    counted: () => ({
      since: since.getTime(),
      seen: observations.all().map(({ route, ...one }) => ({ ...one, route: route?.match })),
      dropped: observations.dropped(),
    }),
    yaml(counted) {
      const all = of(counted);
      return routeMapYaml(map(all), all.from);
    },
    json(counted) {
      const all = of(counted);
      return observedJson(all.observed, map(all), { since: all.from, dropped: all.dropped });
    },
  };
}
