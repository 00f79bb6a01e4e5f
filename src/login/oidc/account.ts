import type { OidcProviderConfig } from '../../config/oidc-login.ts';
import { GatewayError } from '../../errors.ts';
import type { Member } from '../connector.ts';
import { readMember } from '../whoami/member.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Whether something that is asked of an account is not said in these claims: then userinfo may know it. */
export function lacksClaims({ claims, allow, requireVerifiedEmail }: OidcProviderConfig, said: Claims): boolean {
  const wanted = [claims.email, claims.name, ...Object.keys(allow.claims)];
  if (claims.subject !== undefined) wanted.push(claims.subject);
  if (requireVerifiedEmail || said.email !== undefined) wanted.push('email_verified');
  return wanted.some((name) => said[name] === undefined);
}

/** What userinfo adds. An email goes with the word of the one answer that has it: half of each would be nobody's word. */
export function withUserinfo({ claims: { email } }: OidcProviderConfig, said: Claims, more: Claims): Claims {
  const { auth_time, acr } = said;
  const { email_verified } = more[email] === undefined ? said : more;
  return { ...said, ...more, email_verified, auth_time, acr };
}

/**
 * Which member an account at a provider is. Accounts are told apart by the provider and its `sub`, never by an email,
 * unless the operator says that a claim holds the backend's own id (OpenID Connect Core §5.7). Throws GatewayError
 * `forbidden` for an account that may not sign in here, `login_unavailable` when its id is none.
 */
export function memberOf(provider: OidcProviderConfig, said: Claims): Member {
  const { id, claims, allow, requireVerifiedEmail } = provider;
  const email = verifiedEmail(said, claims.email);
  if (requireVerifiedEmail && email === undefined) throw notAllowed('its email is not verified');
  if (allow.emailDomains !== undefined && !allow.emailDomains.includes(domainOf(email) ?? '')) {
    throw notAllowed('its email is of another domain, or not verified');
  }
  for (const [name, values] of Object.entries(allow.claims)) {
    const has = [said[name]].flat();
    if (!values.some((value) => has.includes(value))) throw notAllowed(`its ${name} is another`);
  }
  const sub = claims.subject === undefined ? `${id}:${ownSubject(said)}` : mappedSubject(said, claims, email);
  const values = { sub, email, name: said[claims.name], authTime: said.auth_time, acr: said.acr };
  return readMember(values, undefined);
}

/** Held to the rules of an id before it is written behind the provider's, where a blank at its start would not show. */
function ownSubject({ sub }: Claims): string {
  return readMember({ sub, email: undefined, name: undefined, authTime: undefined, acr: undefined }, undefined).sub;
}

/** An email as an id is one that the provider vouches for: else whoever writes it in their profile is that member. */
function mappedSubject(said: Claims, claims: OidcProviderConfig['claims'], email: string | undefined): unknown {
  const { subject = 'sub' } = claims;
  if (subject !== 'email' && subject !== claims.email) return said[subject];
  if (email === undefined) throw notAllowed('its email is not verified');
  return email;
}

/** Some write the truth as a text. */
function verifiedEmail(said: Claims, claim: string): string | undefined {
  const email = said[claim];
  const verified = said.email_verified === true || said.email_verified === 'true';
  return verified && typeof email === 'string' ? email : undefined;
}

/** In lower case; undefined for what has no one @: of several, each reader takes another for the one that counts. */
function domainOf(email: string | undefined): string | undefined {
  const [, domain] = /^[^@\s"]+@([A-Za-z0-9.-]+)$/.exec(email ?? '') ?? [];
  return domain?.toLowerCase();
}

function notAllowed(why: string): GatewayError {
  return new GatewayError('forbidden', { cause: new Error(`The account may not sign in here: ${why}.`) });
}
