import type { RequestHandler, Response } from 'express';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ApiError } from './api-error.ts';

/** The gate in front: where it publishes its keys, and its issuer. */
export interface Gate {
  readonly issuer: string;
  readonly jwksUrl: string;
}

/** The caller according to the gate. */
export interface Identity {
  readonly memberId: string;
  readonly email: string | undefined;
  readonly claims: JWTPayload;
}

const ASSERTION = 'x-coursegate-assertion';
const MEMBER_ID = 'x-member-id';
const CLOCK_TOLERANCE_SECONDS = 5;
/** An assertion is meant for one call. One that is valid for longer than this is refused. */
const LONGEST_LIFE_SECONDS = 300;

class KeysUnavailable extends Error {}

/**
 * Middleware that identifies the caller. `audience` is this service's name in assertions. A call without identity is
 * anonymous. A claimed identity without proof is refused, because anyone who reaches this port can set the plain
 * headers.
 */
export function gateIdentity(audience: string, gate: () => Gate | undefined): RequestHandler {
  const keys = keysOf();
  return async (request, response, next) => {
    const assertion = request.get(ASSERTION);
    const memberId = request.get(MEMBER_ID);
    if (assertion !== undefined || memberId !== undefined) {
      response.locals.identity = await prove(assertion, memberId, audience, gate(), keys);
    }
    next();
  };
}

/** The member that `gateIdentity` identified; undefined for an anonymous call. */
export function identityOf(response: Response): Identity | undefined {
  return response.locals.identity as Identity | undefined;
}

/** Like `identityOf`, but throws `sign_in_required` for an anonymous call. */
export function requireIdentity(response: Response): Identity {
  const identity = identityOf(response);
  if (identity === undefined) throw new ApiError(401, 'sign_in_required', 'Sign in to use this.');
  return identity;
}

async function prove(
  assertion: string | undefined,
  memberId: string | undefined,
  audience: string,
  gate: Gate | undefined,
  keys: (jwksUrl: string) => JWTVerifyGetKey,
): Promise<Identity> {
  if (assertion === undefined) throw notProved('The member id came without a signed assertion.');
  if (gate === undefined) throw unavailable();
  const claims = await verify(assertion, audience, gate, keys(gate.jwksUrl));
  if (typeof claims.sub !== 'string' || claims.sub === '' || claims.sub !== memberId) {
    throw notProved('The member id does not match the signed assertion.');
  }
  const email = typeof claims.email === 'string' ? claims.email : undefined;
  return { memberId: claims.sub, email, claims };
}

async function verify(assertion: string, audience: string, gate: Gate, key: JWTVerifyGetKey): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(assertion, key, {
      issuer: gate.issuer,
      audience,
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    if ((payload.exp ?? 0) > Date.now() / 1000 + LONGEST_LIFE_SECONDS)
      throw notProved('The assertion is valid for too long.');
    return payload;
  } catch (thrown) {
    if (thrown instanceof KeysUnavailable) throw unavailable();
    if (thrown instanceof errors.JOSEError) throw notProved('The assertion is not valid here.');
    throw thrown;
  }
}

/** Key look-ups by URL, cached so that the keys are not fetched for every call. */
function keysOf(): (jwksUrl: string) => JWTVerifyGetKey {
  const known = new Map<string, JWTVerifyGetKey>();
  return (jwksUrl) => {
    const remote = known.get(jwksUrl) ?? createRemoteJWKSet(new URL(jwksUrl), { cooldownDuration: 1000 });
    known.set(jwksUrl, remote);
    return async (header, jws) => {
      try {
        return await remote(header, jws);
      } catch (thrown) {
        // A key that the gate does not have is the caller's fault; unavailable keys are not.
        if (thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWKSMultipleMatchingKeys)
          throw thrown;
        throw new KeysUnavailable("the gate's keys cannot be read", { cause: thrown });
      }
    };
  };
}

function notProved(message: string): ApiError {
  return new ApiError(401, 'identity_not_proved', message);
}

function unavailable(): ApiError {
  return new ApiError(503, 'identity_unavailable', "The gate's keys cannot be read.", {
    'retry-after': '1',
  });
}
