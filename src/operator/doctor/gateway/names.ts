import { type Echo, folded } from './echo.ts';

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

/** Fields in which products name the member, from their documentation: this one too, of which the doctor imports nothing. */
const OF_OTHER_PRODUCTS = [
  ...['X-Member-Id', 'X-Member-Email', 'X-Member-Name', 'X-Member-Scope', 'X-Client-Id', 'X-Coursegate-Assertion'],
  ...['X-Forwarded-User', 'X-Forwarded-Email', 'X-Forwarded-Groups', 'X-Forwarded-Preferred-Username'],
  ...['X-Forwarded-Access-Token', 'X-Auth-Request-User', 'X-Auth-Request-Email', 'X-Auth-Request-Groups'],
  ...['Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email', 'X-Remote-User', 'X-WEBAUTH-USER'],
  ...['X-Authenticated-User', 'X-Authenticated-Userid', 'X-Auth-User', 'X-User', 'X-User-Id', 'X-User-Email'],
  ...['X-Authentik-Username', 'X-Vouch-User', 'X-Consumer-Username', 'X-Credential-Identifier'],
  ...['X-Pomerium-Jwt-Assertion', 'Cf-Access-Authenticated-User-Email', 'X-Goog-Authenticated-User-Email'],
  ...['X-Amzn-Oidc-Identity', 'X-MS-CLIENT-PRINCIPAL-NAME', 'Tailscale-User-Login', 'X-SSL-Client-S-DN'],
  ...['X-Forwarded-Client-Cert', 'Client-Cert'],
];
const ENDINGS = ['Id', 'User', 'Name', 'Email', 'Groups', 'Roles'];

/** Names that a backend might trust besides `identity`: of other products, and of the same family. */
export function otherIdentityFields(identity: readonly string[]): readonly string[] {
  const known = new Set(identity.map(folded));
  const siblings = identity
    // X alone makes no family.
    .filter((name) => name.lastIndexOf('-') > 1)
    .map((name) => name.slice(0, name.lastIndexOf('-')))
    // X-Client-Id names an app.
    .filter((family) => !/client$/i.test(family))
    .flatMap((family) => ENDINGS.map((ending) => `${family}-${ending}`));
  const all = [...siblings, ...OF_OTHER_PRODUCTS].map((name) => [folded(name), name] as const);
  return [...new Map(all).entries()].filter(([name]) => !known.has(name)).map(([, name]) => name);
}
