import type { Registered } from '../registrations.ts';
import type { Site } from '../site.ts';
import { type AuthorizationEndpoint, authorizationEndpoint } from './authorization-endpoint.ts';
import { findMcp, type McpEndpoint } from './mcp-endpoint.ts';
import { findProtectedEndpoints, type ProtectedEndpoint } from './protected-endpoints.ts';
import { findRegistration, type Register, registeredClient } from './registration.ts';
import { findResources, findWellKnown, type ResourceDocument, type WellKnown } from './resource-metadata.ts';
import { findServer, findServerSpellings, type Server, type ServerSpellings } from './server.ts';

/** What checks build on. Each fact is determined once and shared. */
export interface Facts {
  /** Every requested spelling of the protected resource metadata, with its response. */
  readonly wellKnown: readonly WellKnown[];
  /** The protected resource documents that exist (RFC 9728). */
  readonly resources: readonly [ResourceDocument, ...ResourceDocument[]];
  /** Every spelling of the authorization server metadata, with its response. */
  readonly serverSpellings: ServerSpellings;
  /** The authorization server that the resource names. */
  readonly server: Server;
  readonly mcp: McpEndpoint;
  /** Protected addresses. */
  readonly protectedEndpoints: readonly [ProtectedEndpoint, ...ProtectedEndpoint[]];
  /** The registration endpoint, if the audit may use it. */
  readonly registration: Register;
  /** A public client with a loopback redirect, registered for the audit. */
  readonly client: Registered;
  /** The authorization endpoint with that client, if it checks requests before the sign-in. */
  readonly authorization: AuthorizationEndpoint;
}

export type Need = keyof Facts;
export type FactFinder = <K extends Need>(need: K) => Promise<Facts[K]>;

const FINDERS: { readonly [K in Need]: (site: Site, find: FactFinder) => Promise<Facts[K]> } = {
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
export function createFacts(site: Site): FactFinder {
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
