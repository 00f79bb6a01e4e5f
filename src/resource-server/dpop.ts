import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose';
import { DPOP_ALGORITHMS } from '../oauth/dpop.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

/** One request with a token that is bound to a key, and what it proves of that key. */
interface BoundRequest {
  /** Every DPoP field of the request. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** Absolute, of our own making: the configured origin and the canonical path. */
  readonly url: string;
  readonly token: string;
  /** The token's key. */
  readonly jkt: string;
}

interface ProofFlaw {
  readonly error: 'invalid_dpop_proof' | 'invalid_token';
  readonly description: string;
}

/** Out: what is wrong with the proof, or undefined, and then it is used up. Throws `store_unavailable`. */
export type CheckProof = (request: BoundRequest) => Promise<ProofFlaw | undefined>;

/** Seconds that a proof's `iat` may be off our clock, either way. */
const WINDOW = 60;
const LONGEST_JTI = 128;

/**
 * The checks of RFC 9449 §4.3, in its order, then §7.1: the proof's key is the token's. Last, the proof is used up, so
 * that a request refused for any other reason leaves nothing behind in the store.
 */
export function proofCheck(store: Store, clock: Clock): CheckProof {
  return async ({ proofs, method, url, token, jkt }) => {
    const [proof] = proofs;
    if (proof === undefined || proofs.length > 1) return invalid('exactly one DPoP header is needed with this token');
    const verified = await verify(proof, clock);
    if (verified === undefined) return invalid('the DPoP proof is not a dpop+jwt signed by the public key in it');
    const { jti, htm, htu, iat, ath } = verified.payload;
    if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_JTI) {
      return invalid(`the jti of the DPoP proof must be a string of 1 to ${LONGEST_JTI} characters`);
    }
    if (htm !== method) return invalid('the htm of the DPoP proof is not the method of this request');
    if (typeof htu !== 'string' || normalised(htu) !== normalised(url)) {
      return invalid('the htu of the DPoP proof is not the URL of this request');
    }
    if (typeof iat !== 'number' || Math.abs(unixSeconds(clock) - iat) > WINDOW) {
      return invalid('the iat of the DPoP proof is too far from the time here');
    }
    if (ath !== createHash('sha256').update(token).digest('base64url')) {
      return invalid('the ath of the DPoP proof is not the hash of the access token');
    }
    if (verified.thumbprint !== jkt) {
      return { error: 'invalid_token', description: 'the access token is bound to another key' };
    }
    const entry = {
      kind: 'DPoPProof',
      id: `${jkt}.${jti}`,
      payload: '',
      // One second after the last at which this proof would pass.
      expiresAt: Math.floor(iat) + WINDOW + 1,
      references: {},
    };
    const unused = await store.commit([{ op: 'create', entry }], 'vital');
    return unused ? undefined : invalid('the DPoP proof was used before');
  };
}

function invalid(description: string): ProofFlaw {
  return { error: 'invalid_dpop_proof', description };
}

/** Out: undefined when the proof is not one compact JWS of the right type, signed by the public key in its header. */
async function verify(proof: string, clock: Clock): Promise<{ payload: JWTPayload; thumbprint: string } | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...DPOP_ALGORITHMS],
      currentDate: new Date(clock()),
    });
    return { payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) };
  } catch {
    // Whatever keeps these bytes from verifying, of the key or of the signature, is the client's.
    return undefined;
  }
}

const ESCAPE = /%([0-9A-Fa-f]{2})/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const NOT_URI = /[[\]|^`{}]/g;

/**
 * RFC 3986 §6.2.2 and §6.2.3: case, default port, dot segments, percent-encoding; without query and fragment. Out: the
 * one spelling of `url`, as the path of a request target is canonical too, or undefined when it is no absolute URL.
 */
function normalised(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  parsed.search = '';
  parsed.hash = '';
  return parsed.href
    .replace(ESCAPE, (triplet, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return UNRESERVED.test(character) ? character : triplet.toUpperCase();
    })
    .replace(NOT_URI, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
