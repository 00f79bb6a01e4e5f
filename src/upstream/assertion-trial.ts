// Tries how backends treat assertions, so that `coursegate doctor` can tell whether a drop-in works. It runs in the gate,
// which alone has the signing keys; an assertion never leaves it except to its backend.

import { generateKeyPairSync } from 'node:crypto';
import { parseMatch } from '../config/route.ts';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { boundedJson, RECORD_BOUNDS } from '../http/bounded-json.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import { createCallUpstream } from './call.ts';
import { createIdentity, type IdentityFor, type SigningKey } from './identity.ts';
import { MEMBER_ID } from './own-record.ts';
import type { Pools } from './pools.ts';
import type { UpstreamResponse } from './request.ts';

/** What a request of the trial carries: no identity, a valid assertion, or one with a fault. */
const CARRIED = ['none', 'valid', 'forged', 'expired', 'other-origin', 'other-upstream'] as const;
export type CarriedAs = (typeof CARRIED)[number];

/** How a backend answered. */
export interface TrialAnswer {
  /** Undefined without an answer. */
  readonly status?: number;
  /** The error code and message of a refusal in JSON, or why there was no answer. Without anything that may be a token. */
  readonly said?: string;
}

/** What one upstream made of the requests. */
export interface Trial {
  readonly upstream: string;
  readonly path: string;
  readonly answers: Readonly<Record<CarriedAs, TrialAnswer>>;
}

export interface AssertionTrialOptions {
  readonly config: Pick<Config, 'origin' | 'upstreams' | 'routes' | 'mcp'>;
  readonly pools: Pools;
  readonly signing: () => SigningKey;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The ID of a member that no backend has. */
const NO_MEMBER = 'coursegate-doctor';
const CLIENT = 'coursegate-doctor';
const OTHER_ORIGIN = 'https://coursegate-doctor.invalid';
const HOUR = 3_600_000;
const LONGEST_SAID = 200;

/**
 * Sends each upstream that receives assertions a GET with every kind of assertion, at a path that the configuration
 * exposes. Assertions are about `member`, or about a member that does not exist. Does not reject.
 */
export type TryAssertions = (member: string | undefined) => Promise<readonly Trial[]>;

export function createAssertionTrial({ config, pools, signing, clock }: AssertionTrialOptions): TryAssertions {
  const { origin, upstreams } = config;
  return async (member = NO_MEMBER) => {
    const made = identities({ origin, signing, clock });
    const trials: Trial[] = [];
    for (const place of placesOf(config, member)) {
      const answers: Partial<Record<CarriedAs, TrialAnswer>> = {};
      for (const carried of CARRIED) {
        const call = createCallUpstream({ upstreams, pools, origin, identity: boundTo(made[carried], place) });
        const { upstream, path, scopes } = place;
        const principal: MemberPrincipal = {
          kind: 'member',
          sub: member,
          details: {},
          scope: new Set(scopes),
          clientId: CLIENT,
          grantId: CLIENT,
        };
        answers[carried] = await call({
          upstream,
          method: 'GET',
          path,
          headers: { accept: 'application/json' },
          principal,
        }).then(
          // Only a call with credentials finds that a session is over.
          (answer) => (typeof answer === 'string' ? {} : { status: answer.status, ...said(answer) }),
          (thrown: unknown) => ({ said: thrown instanceof GatewayError ? thrown.message : 'the request failed' }),
        );
      }
      trials.push({ upstream: place.upstream, path: place.path, answers: answers as Trial['answers'] });
    }
    return trials;
  };
}

/** The identity fields of each kind of request. */
function identities(options: {
  origin: string;
  signing: () => SigningKey;
  clock: () => number;
}): Readonly<Record<CarriedAs, IdentityFor>> {
  const { origin, signing, clock } = options;
  const proper = { issuer: origin, signingKey: async () => signing(), clock };
  const valid = createIdentity(proper);
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    none: () => ({}),
    valid,
    forged: createIdentity({ ...proper, signingKey: async () => ({ kid: signing().kid, key }) }),
    expired: createIdentity({ ...proper, clock: () => clock() - HOUR }),
    'other-origin': createIdentity({ ...proper, issuer: OTHER_ORIGIN }),
    'other-upstream': (principal, _upstream, kinds, bound) => valid(principal, CLIENT, kinds, bound),
  };
}

/** A request that the configuration lets an app make. */
interface TrialPlace {
  readonly upstream: string;
  readonly path: string;
  readonly scopes: readonly string[];
  /** Set for a route whose requests a gateway forwards: such an assertion is for one request. */
  readonly bound: { readonly method: string; readonly url: string } | undefined;
}

/** For a request that a gateway forwards, the assertion names the request. */
function boundTo(identity: IdentityFor, { bound }: TrialPlace): IdentityFor {
  return (principal, upstream, kinds) => identity(principal, upstream, kinds, bound);
}

/** One place for each upstream that receives assertions: a route, else a tool, else its root. */
function placesOf(config: AssertionTrialOptions['config'], member: string): readonly TrialPlace[] {
  return Object.entries(config.upstreams)
    .filter(([, { identity }]) => identity.includes('assertion'))
    .map(([upstream]) => {
      const [exact, wide] = [routePlaces(config, upstream, member, false), routePlaces(config, upstream, member, true)];
      const root: TrialPlace = { upstream, path: '/', scopes: [], bound: undefined };
      return exact[0] ?? toolPlaces(config, upstream, member)[0] ?? wide[0] ?? root;
    });
}

/** The routes that a GET can be made for without an invented ID. `wide`: those that match more than one path. */
function routePlaces(
  { origin, routes }: AssertionTrialOptions['config'],
  upstream: string,
  member: string,
  wide: boolean,
): readonly TrialPlace[] {
  return routes.flatMap((route) => {
    const { methods, pattern } = parseMatch(route.match);
    const end = wide ? '/**' : '';
    if (route.upstream !== upstream || !(methods?.includes('GET') ?? true) || !pattern.endsWith(end)) return [];
    const [asked, sent] = [pattern, route.rewrite ?? pattern].map((one) =>
      filled(one.slice(0, one.length - end.length), member),
    );
    if (asked === undefined || sent === undefined) return [];
    const query = Object.entries(route.query ?? {}).map(([name, value]) => [name, value.replaceAll(MEMBER_ID, member)]);
    const search = query.length === 0 ? '' : `?${new URLSearchParams(query)}`;
    const bound = route.forwardedBy === 'gateway' ? { method: 'GET', url: origin + asked } : undefined;
    return [{ upstream, path: sent + search, scopes: route.scopes, bound }];
  });
}

/** The tools for members that send a GET without arguments. */
function toolPlaces({ mcp }: AssertionTrialOptions['config'], upstream: string, member: string): readonly TrialPlace[] {
  return (mcp?.tools ?? []).flatMap(({ get, scopes }) => {
    const path = get?.upstream === upstream && scopes.length > 0 ? filled(get.path, member) : undefined;
    if (get === undefined || path === undefined) return [];
    const fixed = Object.entries(get.query).filter(([, value]) => !value.includes('{'));
    const search = fixed.length === 0 ? '' : `?${new URLSearchParams(fixed)}`;
    return [{ upstream, path: path + search, scopes, bound: undefined }];
  });
}

/** A pattern with the member's ID in it; undefined if it has another variable part. */
function filled(pattern: string, member: string): string | undefined {
  const path = pattern.replaceAll(MEMBER_ID, () => encodeURIComponent(member)) || '/';
  return /[*{}]/.test(path) ? undefined : path;
}

const SAID = ['code', 'error', 'message', 'error_description', 'detail', 'title'];

/** What a refusal says, if it is JSON. Error pages are not quoted: some repeat the fields of the request. */
function said({ body, status }: UpstreamResponse): Pick<TrialAnswer, 'said'> {
  if (status < 400) return {};
  const parsed = boundedJson(body, RECORD_BOUNDS);
  const found = [parsed, Object(parsed).error].flatMap((object) =>
    SAID.map((name) => (Object(object) as Record<string, unknown>)[name]),
  );
  const texts = [...new Set(found.filter((text) => typeof text === 'string'))].join(' ');
  const safe = texts.replace(/[\w-]{24,}(?:\.[\w-]+)*/g, '…').slice(0, LONGEST_SAID);
  return safe === '' ? {} : { said: safe };
}
