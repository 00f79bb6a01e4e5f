import type { Share } from '../../config/carried-over.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { Foundation } from '../../foundation/foundation.ts';
import type { GatePart } from '../../generation/part.ts';
import { cookieFilter } from '../../login/cookies.ts';
import { loginCookies } from '../../login/kinds.ts';
import type { RequestParts } from '../../request/parts.ts';
import type { Route } from '../../request/route.ts';
import { createRouting, type Routed } from '../../upstream/routing.ts';
import type { AdminReply } from '../admin.ts';
import { createObserver, type Observer } from './observer.ts';

export interface ObservePart extends GatePart {
  /** Undefined when routes are enforced. */
  readonly observer: Observer | undefined;
  readonly observing: RequestParts['observing'];
}

const NOT_OBSERVING: AdminReply = { status: 404, text: 'not in observe mode: nothing is counted' };

/** Observe mode. `routes` are those of the public listener. */
export function openObserve(
  { clock, log }: Pick<Foundation, 'clock' | 'log'>,
  { config }: LoadedConfig,
  { routes, share }: { readonly routes: readonly Routed<Route>[]; readonly share: Share },
): ObservePart {
  const session = cookieFilter([...loginCookies(config.login), ...config.enforcement.cookies]);
  const observer = createObserver(config, { hasSession: (cookie) => session(cookie) !== '', clock, share });
  if (observer === undefined) {
    const admin = { '/observed': () => NOT_OBSERVING, '/observed.json': () => NOT_OBSERVING };
    return { observer, observing: undefined, admin };
  }
  log.warn(
    'OBSERVE MODE: what the routes would refuse is let through to the site; take `enforcement` out to enforce them',
  );
  // Enforced in observe mode too.
  const enforced = routes.filter(({ value: { entry } }) => entry === undefined || !observer.watches(entry));
  return {
    observer,
    observing: { observer, enforced: createRouting(enforced) },
    health: 'in observe mode: the routes are not enforced',
    admin: {
      '/observed': () => ({ contentType: 'application/yaml; charset=utf-8', text: observer.yaml() }),
      '/observed.json': () => ({ json: observer.json() }),
    },
  };
}
