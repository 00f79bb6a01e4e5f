import type Provider from 'oidc-provider';
import type { ScopeConfig } from '../config/schema.ts';
import type { Scope } from '../oauth/scope.ts';
import { clientProof } from './client-documents/client-proof.ts';
import type { KnownApp } from './pages/app-row.ts';
import type { AppProof, AppView, Destination } from './pages/consent.ts';
import { MOST_LISTED, type Permissions } from './pages/permissions.ts';
import { posingOf } from './pages/posing.ts';
import { isLoopback } from './rules/loopback.ts';

type Client = InstanceType<Provider['Client']>;

/**
 * What the consent page shows about the app.
 * @param redirectUri - where the answer goes
 * @param school - the name of the course site
 */
export function appView(client: Client, redirectUri: string, school: string): AppView {
  const destination = destinationOf(redirectUri);
  return {
    ...nameOf(client, school, [destination]),
    proof: proofOf(client, destination),
    destination,
    policy: httpsUrl(client.policyUri),
    terms: httpsUrl(client.tosUri),
  };
}

/** The same for a connected app, which may have several destinations. Shows the weakest proof among them. */
export function connectedAppView(client: Client, school: string): KnownApp {
  const destinations = distinct((client.redirectUris ?? []).map(destinationOf));
  const proofs = destinations.map((destination) => proofOf(client, destination));
  const weakest = (proof: AppProof) => (proof.kind === 'proved' ? (proof.elsewhere ? 1 : 2) : 0);
  return {
    ...nameOf(client, school, destinations),
    proof: proofs.toSorted((a, b) => weakest(a) - weakest(b))[0] ?? { kind: 'none' },
    destinations,
  };
}

function nameOf(client: Client, school: string, destinations: readonly Destination[]) {
  const { clientName: name } = client;
  const proof = clientProof(client);
  const hosts = {
    document: proof.kind === 'document' ? proof.host : undefined,
    destinations: destinations.flatMap((one) => (one.kind === 'host' ? [one.host] : [])),
  };
  return { name, posing: posingOf(name, school, hosts) };
}

function distinct(destinations: readonly Destination[]): readonly Destination[] {
  return [...new Map(destinations.map((one) => [JSON.stringify(one), one])).values()];
}

/** What decides which boxes are ticked at first. */
interface Ticks {
  /** The scopes that the member has already granted to this app. */
  readonly held: ReadonlySet<string>;
  /** The page advises against the app. */
  readonly isSuspicious: boolean;
  /** The form was submitted with nothing ticked. */
  readonly nothingTicked: boolean;
}

/**
 * The requested scopes as sentences, in the order of the request. `openid` has no checkbox: approving at all tells the
 * app who the member is. What changes data starts unticked, except in a step-up, and so does everything if the page
 * advises against the app.
 */
export function permissionsOf(
  requested: Scope,
  catalogue: Readonly<Record<string, ScopeConfig>>,
  ticks: Ticks,
): Permissions {
  const of = (...kinds: ScopeConfig['kind'][]) =>
    [...requested].flatMap((token) => {
      const scope = catalogue[token];
      return scope !== undefined && kinds.includes(scope.kind) ? [{ token, title: scope.title }] : [];
    });
  const reads = of('identity', 'read').map((scope) => ({
    ...scope,
    box: scope.token === 'openid' ? ('always' as const) : ('ticked' as const),
  }));
  const box =
    !ticks.nothingTicked && isStepUp(requested, catalogue, ticks) ? ('ticked' as const) : ('unticked' as const);
  return {
    reads,
    writes: of('write').map((scope) => ({ ...scope, box })),
    noReads: ticks.nothingTicked || ticks.isSuspicious,
  };
}

/**
 * Whether all that is new in the request are a few writes, so that the member has just asked the app for them. A
 * challenge names the scopes that an app already has beside the one it lacks, and apps add `openid` to any request.
 */
function isStepUp(requested: Scope, catalogue: Readonly<Record<string, ScopeConfig>>, ticks: Ticks): boolean {
  const kindOf = (token: string) => catalogue[token]?.kind;
  const writes = [...requested].filter((token) => kindOf(token) === 'write');
  const reads = [...requested].filter((token) => kindOf(token) === 'read');
  return (
    !ticks.isSuspicious &&
    writes.length <= MOST_LISTED &&
    writes.some((token) => !ticks.held.has(token)) &&
    reads.every((token) => ticks.held.has(token))
  );
}

/** Where a redirect URI sends the member, in familiar terms. International host names stay in punycode. */
function destinationOf(redirectUri: string): Destination {
  const url = new URL(redirectUri);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { kind: 'scheme', scheme: url.protocol.slice(0, -1) };
  return isLoopback(redirectUri) ? { kind: 'computer' } : { kind: 'host', host: url.host };
}

/**
 * A document proves whose client_id it is. Who receives the answer is proved only if the destination is a host: any
 * program on the device can listen on a loopback port or claim a scheme.
 */
function proofOf(client: Client, destination: Destination): AppProof {
  const proof = clientProof(client);
  if (proof.kind === 'none') return proof;
  if (destination.kind !== 'host') return { kind: 'claimed', host: proof.host };
  return { kind: 'proved', host: proof.host, elsewhere: destination.host !== proof.host };
}

/** Only https URLs become links, even if other URLs were stored before registration checked them. */
function httpsUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === 'https:' ? url : undefined;
}
