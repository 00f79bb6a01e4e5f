import type { RequestHandler, Response } from 'express';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { ApiError } from './api-error.ts';

/** Where the gate in front publishes its keys, and the name it signs with. */
export interface Gate {
  readonly issuer: string;
  readonly jwksUrl: string;
}

/** Who the gate says is calling. */
export interface Identity {
  readonly memberId: string;
  readonly email: string | undefined;
  readonly claims: JWTPayload;
}

const ASSERTION = 'x-coursegate-assertion';
const MEMBER_ID = 'x-member-id';
const CLOCK_TOLERANCE_SECONDS = 5;
/** An assertion is good for one call; one that outlives this was not made by a gate that works. */
const LONGEST_LIFE_SECONDS = 300;

class KeysUnavailable extends Error {}

/**
 * Middleware that establishes who calls. In: the name this service has as a reader of assertions, and the gate as it is
 * known at the time of the call. A call without identity passes as anonymous; one that claims an identity and does not
 * prove it is refused, because the plain headers alone can be written by anyone who reaches this port.
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

/** In: the answer of a request that passed `gateIdentity`. Out: the member, or undefined for an anonymous call. */
export function identityOf(response: Response): Identity | undefined {
  return response.locals.identity as Identity | undefined;
}

/** Like `identityOf`, for what only members may do: throws `sign_in_required` for an anonymous call. */
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
    throw notProved('The member id is not the one that was signed.');
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
    if ((payload.exp ?? 0) > Date.now() / 1000 + LONGEST_LIFE_SECONDS) throw notProved('The assertion lives too long.');
    return payload;
  } catch (thrown) {
    if (thrown instanceof KeysUnavailable) throw unavailable();
    if (thrown instanceof errors.JOSEError) throw notProved('The assertion is not valid here.');
    throw thrown;
  }
}

/** Key lookups by address, kept so that the keys are fetched once and not for every call. */
function keysOf(): (jwksUrl: string) => JWTVerifyGetKey {
  const known = new Map<string, JWTVerifyGetKey>();
  return (jwksUrl) => {
    const remote = known.get(jwksUrl) ?? createRemoteJWKSet(new URL(jwksUrl), { cooldownDuration: 1000 });
    known.set(jwksUrl, remote);
    return async (header, jws) => {
      try {
        return await remote(header, jws);
      } catch (thrown) {
        // A key the gate does not have is the caller's fault; keys that cannot be read are not.
        if (thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWKSMultipleMatchingKeys)
          throw thrown;
        throw new KeysUnavailable('the keys of the gate cannot be read', { cause: thrown });
      }
    };
  };
}

function notProved(message: string): ApiError {
  return new ApiError(401, 'identity_not_proved', message);
}

function unavailable(): ApiError {
  return new ApiError(503, 'identity_unavailable', 'The keys of the gate in front cannot be read.', {
    'retry-after': '1',
  });
}
