import { type Echo, folded } from './echo.ts';
import IDENTITIES from './identities.json' with { type: 'json' };

/** In every forged value, so that it is recognised wherever it arrives. */
export const FORGED = 'doctor-forged';

/** Fields of a request that identify no member: the client sends them, or a gateway describes the request in them. */
const ABOUT_THE_REQUEST =
  /^(?:accept|accept-.*|authorization|cdn-loop|cf-.*|connection|content-.*|cookie|dpop|expect|forwarded|host|keep-alive|max-forwards|te|trace.*|transfer-encoding|true-client-ip|upgrade|upgrade-insecure-requests|user-agent|via|x-amzn-trace-id|x-b3-.*|x-client-ip|x-cluster-client-ip|x-correlation-id|x-envoy-.*|x-forwarded|x-forwarded-(?:by|for|host|method|path|port|prefix|proto|protocol|scheme|server|ssl|uri)|x-original-.*|x-real-ip|x-request-.*|x-rewrite-url|x-scheme)$/;

/** The fields that the gateway adds to an admitted request, each once: the backend knows the member by them. */
export function identityFields(admitted: Echo): readonly string[] {
  const names = admitted.headers.map(([name]) => name).filter((name) => !ABOUT_THE_REQUEST.test(folded(name)));
  return [...new Map(names.map((name) => [folded(name), name])).values()];
}

/**
 * Names that a backend might trust besides `identity`: those in which products name the member, from their documentation
 * (this one too, of which the doctor imports nothing), and those of the same family.
 */
export function otherIdentityFields(identity: readonly string[]): readonly string[] {
  const known = new Set(identity.map(folded));
  const siblings = identity
    // X alone makes no family.
    .filter((name) => name.lastIndexOf('-') > 1)
    .map((name) => name.slice(0, name.lastIndexOf('-')))
    // X-Client-Id names an app.
    .filter((family) => !/client$/i.test(family))
    .flatMap((family) => IDENTITIES.endings.map((ending) => `${family}-${ending}`));
  const all = [...siblings, ...IDENTITIES.ofProducts].map((name) => [folded(name), name] as const);
  return [...new Map(all).entries()].filter(([name]) => !known.has(name)).map(([, name]) => name);
}
