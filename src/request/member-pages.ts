import type { IncomingMessage } from 'node:http';
import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import { PageFailure } from '../authorization-server/pages/page-failure.ts';
import { redirect } from '../authorization-server/pages/pages.ts';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { isNavigation } from '../http/navigation.ts';
import type { Incoming } from './incoming.ts';
import type { Route } from './route.ts';

/** Which requests the pages of sign-in, consent and connected apps answer, and at which host. */
export type MemberPages = ReturnType<typeof memberPages>;

export function memberPages({ pages }: Pick<Config, 'pages'>) {
  const windowOnly = pages.serviceWorkers === 'refuse';
  const apart = pages.origin === undefined ? undefined : new URL(pages.origin);
  const usualPort = apart?.protocol === 'https:' ? ':443' : ':80';

  const isApart = ({ headers: { host = '' } }: Pick<IncomingMessage, 'headers'>): boolean => {
    if (apart === undefined) return false;
    const name = host.toLowerCase();
    return (name.endsWith(usualPort) ? name.slice(0, -usualPort.length) : name) === apart.host;
  };

  return {
    /** Whether the request is for the host of `pages.origin`. */
    isApart,
    /**
     * Admits a request to its route, before the route does anything; `route` is undefined if there is none. Returns false
     * if the browser was sent to the other host instead.
     *
     * @throws {GatewayError} `forbidden` for a request to a page that is no navigation, and for a form sent to the wrong
     * host, `not_found` for everything else at the host of the pages
     */
    admit({ request, response, target }: Omit<Incoming, 'inFlight' | 'record'>, route: Route | undefined): boolean {
      const here = isApart(request);
      if (here && route?.host === undefined) throw new GatewayError('not_found');
      if (route?.visits === true && !isNavigation(request, windowOnly))
        throw new PageFailure('forbidden', 'failure.not_opened');
      if (apart === undefined || here || route?.host !== 'pages') return true;
      const { method } = request;
      // An app may also begin by POST (OpenID Connect Core section 3.1.2.1). All other forms are those of the pages.
      if (method !== 'GET' && target.path !== ENDPOINTS.authorization)
        throw new PageFailure('forbidden', 'failure.other_site');
      redirect(response, apart.origin + target.path + target.query, method === 'GET' ? 303 : 307);
      return false;
    },
  };
}
