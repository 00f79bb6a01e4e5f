import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose';
import { normalisedEscapes } from '../http/percent.ts';
import { DPOP_ALGORITHMS } from '../oauth/dpop.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

/** A request with a key-bound token, and its DPoP proof. */
interface BoundRequest {
  /** Every DPoP field of the request. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** Absolute URL, built from the configured origin and the canonical path. */
  readonly url: string;
  readonly token: string;
  /** The thumbprint of the token's key. */
  readonly jkt: string;
}

interface ProofFlaw {
  readonly error: 'invalid_dpop_proof' | 'invalid_token';
  readonly description: string;
}

/** Resolves to the flaw of the proof; or to undefined, and then the proof is used up. Throws `store_unavailable`. */
export type CheckProof = (request: BoundRequest) => Promise<ProofFlaw | undefined>;

/** Seconds that a proof's `iat` may differ from the gate's clock, in either direction. */
const WINDOW = 60;
const LONGEST_JTI = 128;

/**
 * The checks of RFC 9449 section 4.3 in its order, then of section 7.1: the proof's key is the token's key. The proof
 * is recorded as used last, so that a request refused for another reason writes nothing to the store.
 */
export function proofCheck(store: Store, clock: Clock): CheckProof {
  return async ({ proofs, method, url, token, jkt }) => {
    const [proof] = proofs;
    if (proof === undefined || proofs.length > 1) return invalid('exactly one DPoP header is needed with this token');
    const verified = await verify(proof, clock);
    if (verified === undefined) return invalid('the DPoP proof is not a dpop+jwt signed by the public key in it');
    const { jti, htm, htu, iat, ath } = verified.payload;
    if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_JTI)
      return invalid(`the jti of the DPoP proof must be a string of 1 to ${LONGEST_JTI} characters`);
    if (htm !== method) return invalid('the htm of the DPoP proof is not the method of this request');
    if (typeof htu !== 'string' || normalised(htu) !== normalised(url))
      return invalid('the htu of the DPoP proof is not the URL of this request');
    if (typeof iat !== 'number' || Math.abs(unixSeconds(clock) - iat) > WINDOW)
      return invalid('the iat of the DPoP proof is too far from the time here');
    if (ath !== createHash('sha256').update(token).digest('base64url'))
      return invalid('the ath of the DPoP proof is not the hash of the access token');
    if (verified.thumbprint !== jkt)
      return { error: 'invalid_token', description: 'the access token is bound to another key' };
    const entry = {
      kind: 'DPoPProof',
      id: `${jkt}.${jti}`,
      payload: '',
      // One second after the last moment at which this proof would be accepted.
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

/** Undefined unless the proof is one compact JWS of the right type, signed by the public key in its header. */
async function verify(proof: string, clock: Clock): Promise<{ payload: JWTPayload; thumbprint: string } | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...DPOP_ALGORITHMS],
      currentDate: new Date(clock()),
    });
    return { payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) };
  } catch {
    // Whether the key or the signature is wrong, the fault is the client's.
    return undefined;
  }
}

/**
 * Normalises a URL (RFC 3986 sections 6.2.2 and 6.2.3): case, default port, dot segments and percent-encoding, without
 * query and fragment. Undefined when it is not an absolute URL.
 */
function normalised(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  parsed.search = '';
  parsed.hash = '';
  return normalisedEscapes(parsed.href);
}
