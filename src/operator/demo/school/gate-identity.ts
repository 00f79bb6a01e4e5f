import type { RequestHandler, Response } from 'express';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ApiError } from './api-error.ts';

/** The gate in front: where it publishes its keys, and its issuer. */
export interface GateKeys {
  readonly issuer: string;
  readonly jwksUrl: string;
}

/** The claims about the caller in the gate's assertion. The subject is the member's id. */
export type Identity = JWTPayload & { readonly sub: string };

/** An assertion is meant for one call. One that is valid for longer than this is refused. */
const LONGEST_LIFE_SECONDS = 300;
/** The codes of jose for keys that cannot be read. All others mean that the assertion is invalid. */
const UNREADABLE_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT'];

/**
 * Middleware that identifies the caller. `audience` is this service's name in assertions. A call without identity is
 * anonymous. A claimed identity without proof is refused, because anyone who reaches this port can set the plain
 * headers. `now` is in Unix seconds.
 */
export function gateIdentity(audience: string, gate: () => GateKeys | undefined, now: () => number): RequestHandler {
  let keys: JWTVerifyGetKey | undefined;
  return async (request, response, next) => {
    const assertion = request.get('x-coursegate-assertion');
    const memberId = request.get('x-member-id');
    if (assertion === undefined && memberId === undefined) return next();
    if (assertion === undefined) throw notProved('The member id came without a signed assertion.');
    const { issuer, jwksUrl } = gate() ?? unavailable();
    keys ??= createRemoteJWKSet(new URL(jwksUrl), { cooldownDuration: 1000 });
    const claims = await verify(assertion, keys, { issuer, audience, now: now() });
    if (claims.sub === undefined || claims.sub === '' || claims.sub !== memberId) {
      throw notProved('The member id does not match the signed assertion.');
    }
    response.locals.identity = claims;
    next();
  };
}

/** The member that `gateIdentity` identified; undefined for an anonymous call. */
export function identityOf(response: Response): Identity | undefined {
  return response.locals.identity as Identity | undefined;
}

/** The id of the member that `gateIdentity` identified. Throws `sign_in_required` for an anonymous call. */
export function requireMember(response: Response): string {
  const identity = identityOf(response);
  if (identity === undefined) throw new ApiError(401, 'sign_in_required', 'Sign in to use this.');
  return identity.sub;
}

/** Runs before body parsers, so that the school does not read bodies of anonymous callers. */
export const membersOnly: RequestHandler = (_request, response, next) => {
  requireMember(response);
  next();
};

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly now: number;
}

async function verify(token: string, keys: JWTVerifyGetKey, { now, ...expected }: Expected): Promise<JWTPayload> {
  const options = {
    ...expected,
    algorithms: ['ES256'],
    requiredClaims: ['sub', 'exp'],
    clockTolerance: '5s',
    currentDate: new Date(now * 1000),
  };
  const { payload } = await jwtVerify(token, keys, options).catch((thrown: unknown) => {
    if (!(thrown instanceof errors.JOSEError) || UNREADABLE_KEYS.includes(thrown.code)) return unavailable();
    throw notProved('The assertion is not valid here.');
  });
  if ((payload.exp ?? 0) > now + 1 + LONGEST_LIFE_SECONDS) throw notProved('The assertion is valid for too long.');
  return payload;
}

function notProved(message: string): ApiError {
  return new ApiError(401, 'identity_not_proved', message);
}

function unavailable(): never {
  throw new ApiError(503, 'identity_unavailable', "The gate's keys cannot be read.", { 'retry-after': '1' });
}
