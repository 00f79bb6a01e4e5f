import type Provider from 'oidc-provider';
import type { ScopeConfig } from '../config/schema.ts';
import type { Scope } from '../oauth/scope.ts';
import type { OfferedScopes } from '../roles/role-scopes.ts';
import { documentHost } from './client-documents/client-proof.ts';
import type { KnownApp } from './pages/app-row.ts';
import { type AppProof, type AppView, type Destination, isSuspicious } from './pages/consent.ts';
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
  const hosts = {
    document: documentHost(client),
    destinations: destinations.flatMap((one) => (one.kind === 'host' ? [one.host] : [])),
  };
  return { name, posing: posingOf(name, school, hosts) };
}

function distinct(destinations: readonly Destination[]): readonly Destination[] {
  return [...new Map(destinations.map((one) => [JSON.stringify(one), one])).values()];
}

/** What decides which boxes there are, and which of them are ticked at first. */
interface Ticks {
  readonly app: AppView;
  /** The scopes that the member has already granted to this app. */
  readonly held: ReadonlySet<string>;
  /** The form was submitted with nothing ticked. */
  readonly nothingTicked: boolean;
  /** In how many courses the member has the role for a scope; no entry for one that is about the whole school. */
  readonly courses: OfferedScopes['courses'];
}

/**
 * The requested scopes as sentences, in the order of the request. `openid` has no checkbox: approving at all tells the
 * app who the member is. If it asks for something new, what it has already needs none either. What changes data starts
 * unticked, except in a step-up. If the page advises against the app, it is asked for everything, and nothing is ticked.
 */
export function permissionsOf(
  requested: Scope,
  catalogue: Readonly<Record<string, ScopeConfig>>,
  { app, held, nothingTicked, courses }: Ticks,
): Permissions {
  const asksForMore = isMore(requested, held);
  const all = [...requested].flatMap((token) => {
    const scope = catalogue[token];
    return scope === undefined
      ? []
      : [{ ...lineOf(token, scope, asksForMore && held.has(token)), courses: courses.get(token) }];
  });
  // On a device, any program could be asking in the name of the app that has it.
  const isHeld = ({ had, kind }: (typeof all)[number]) =>
    had && !isSuspicious(app) && (kind !== 'write' || app.destination.kind === 'host');
  const asked = all.filter((scope) => !isHeld(scope));
  const [reads, writes] = [asked.filter(({ kind }) => kind !== 'write'), asked.filter(({ kind }) => kind === 'write')];
  // The member has just asked the app for a few changes: all that is new in the request, but for who the member is.
  const isStepUp =
    asksForMore &&
    !isSuspicious(app) &&
    writes.length <= MOST_LISTED &&
    writes.some(({ had }) => !had) &&
    reads.every(({ kind, had }) => kind === 'identity' || had);
  const withBoxes = (scopes: typeof all, isTicked: boolean) => {
    const box = isTicked && !nothingTicked ? 'ticked' : 'unticked';
    return scopes.map((scope) => ({ ...scope, box: scope.token === 'openid' ? 'always' : box }) as const);
  };
  return {
    reads: withBoxes(reads, !isSuspicious(app)).toSorted(
      (a, b) => Number(b.box === 'always') - Number(a.box === 'always'),
    ),
    writes: withBoxes(writes, isStepUp),
    held: all.filter(isHeld),
  };
}

/** Whether an app asks for something that it does not have yet. */
export function isMore(requested: Scope, held: ReadonlySet<string>): boolean {
  return [...requested].some((token) => !held.has(token));
}

/** Scopes of the Account API are about the member. */
function lineOf(token: string, { title, kind }: ScopeConfig, had: boolean) {
  const area = kind === 'identity' || token.startsWith('account:') ? ('you' as const) : ('school' as const);
  return { token, title, kind, area, people: kind === 'people', had };
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
  const host = documentHost(client);
  if (host === undefined) return { kind: 'none' };
  if (destination.kind !== 'host') return { kind: 'claimed', host };
  return { kind: 'proved', host, elsewhere: destination.host !== host };
}

/** Only https URLs become links, even if other URLs were stored before registration checked them. */
function httpsUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  return url?.protocol === 'https:' ? url : undefined;
}
