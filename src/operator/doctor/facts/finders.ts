import type { FactFinders } from '../find-facts.ts';
import type { ExaminedSite } from '../site.ts';
import { authorizationEndpoint } from './authorization-endpoint.ts';
import type { Facts } from './facts.ts';
import { findMcp } from './mcp-endpoint.ts';
import { findResources, findServer, findServerSpellings, findWellKnown } from './metadata.ts';
import { findProtectedEndpoints } from './protected-endpoints.ts';
import { findRegistration, registeredClient } from './registration.ts';

/** How each fact about a deployment is found out. */
export const FINDERS: FactFinders<ExaminedSite, Facts> = {
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
