import type { ExaminedSite } from '../site.ts';
import { authorizationEndpoint } from './authorization-endpoint.ts';
import type { FactFinder, Facts, Need } from './facts.ts';
import { findMcp } from './mcp-endpoint.ts';
import { findProtectedEndpoints } from './protected-endpoints.ts';
import { findRegistration, registeredClient } from './registration.ts';
import { findResources, findWellKnown } from './resource-metadata.ts';
import { findServer, findServerSpellings } from './server.ts';

const FINDERS: { readonly [K in Need]: (site: ExaminedSite, find: FactFinder) => Promise<Facts[K]> } = {
  wellKnown: findWellKnown,
  resources: findResources,
  serverSpellings: findServerSpellings,
  server: findServer,
  mcp: findMcp,
  protectedEndpoints: findProtectedEndpoints,
  registration: findRegistration,
  client: registeredClient,
  authorization: authorizationEndpoint,
};

/** Determines each fact on first use. Later uses get the same value or the same error. */
export function createFacts(site: ExaminedSite): FactFinder {
  const found = new Map<Need, Promise<unknown>>();
  const find: FactFinder = (need) => {
    let fact = found.get(need);
    if (fact === undefined) {
      fact = FINDERS[need](site, find);
      found.set(need, fact);
    }
    return fact as ReturnType<typeof find<typeof need>>;
  };
  return find;
}
