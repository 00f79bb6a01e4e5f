import { GatewayError } from '../../errors.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import type { Member } from '../connector.ts';
import { readMember, readSubject } from '../whoami/member.ts';
import type { OidcProviderConfig } from './settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Whether the ID token lacks a claim that the configuration uses, so that userinfo must be requested. */
export function lacksClaims({ claims, allow, requireVerifiedEmail }: OidcProviderConfig, said: Claims): boolean {
  const wanted = [...Object.values(claims).filter((name) => name !== undefined), ...Object.keys(allow.claims)];
  if (requireVerifiedEmail || said.email !== undefined) wanted.push('email_verified');
  return wanted.some((name) => said[name] === undefined);
}

/**
 * Adds the claims of userinfo to those of the ID token. `email_verified` is always taken from the same response as the
 * email, because it says nothing about an email from the other one.
 */
export function withUserinfo({ claims: { email } }: OidcProviderConfig, said: Claims, more: Claims): Claims {
  const { auth_time, acr } = said;
  const { email_verified } = more[email] === undefined ? said : more;
  return { ...said, ...more, email_verified, auth_time, acr };
}

/**
 * The member that an account at a provider belongs to. Accounts are identified by the provider and its `sub`, never by
 * email, unless the operator configured a claim that has the backend's own id (OpenID Connect Core section 5.7).
 *
 * @throws {GatewayError} `forbidden` if the account may not sign in here, `login_unavailable` if its id is invalid
 */
export function memberOf(provider: OidcProviderConfig, said: Claims): Member {
  const { id, claims, allow, requireVerifiedEmail } = provider;
  const email = verifiedEmail(said, claims.email);
  if (requireVerifiedEmail && email === undefined) throw notAllowed('its email is not verified');
  if (allow.emailDomains !== undefined && !allow.emailDomains.includes(domainOf(email) ?? ''))
    throw notAllowed('its email is in another domain or not verified');
  for (const [name, values] of Object.entries(allow.claims)) {
    const has = [said[name]].flat();
    if (!values.some((value) => has.includes(value))) throw notAllowed(`its ${name} is not an allowed value`);
  }
  // The provider's `sub` is validated before it is prefixed, since the prefix would hide a leading space.
  const sub = claims.subject === undefined ? `${id}:${readSubject(said.sub)}` : mappedSubject(said, claims, email);
  // Emails that are not verified are not used at all.
  const emailVerified = email === undefined ? undefined : true;
  const details = { ...eachDetail((detail) => said[claims[detail]]), email };
  return readMember({ sub, ...details, emailVerified, authTime: said.auth_time, acr: said.acr });
}

/** An email is only accepted as the id if it is verified: otherwise anyone could enter it in their profile. */
function mappedSubject(said: Claims, claims: OidcProviderConfig['claims'], email: string | undefined): unknown {
  const { subject = 'sub' } = claims;
  if (subject !== 'email' && subject !== claims.email) return said[subject];
  if (email === undefined) throw notAllowed('its email is not verified');
  return email;
}

/** The email, if the provider says that it is verified. Some providers send `email_verified` as text. */
function verifiedEmail(said: Claims, claim: string): string | undefined {
  const email = said[claim];
  const verified = said.email_verified === true || said.email_verified === 'true';
  return verified && typeof email === 'string' ? email : undefined;
}

/** The domain of an email in lower case; undefined unless it has exactly one @, since parsers disagree on several. */
function domainOf(email: string | undefined): string | undefined {
  const [, domain] = /^[^@\s"]+@([A-Za-z0-9.-]+)$/.exec(email ?? '') ?? [];
  return domain?.toLowerCase();
}

function notAllowed(why: string): GatewayError {
  return new GatewayError('forbidden', { cause: new Error(`The account is not allowed to sign in: ${why}.`) });
}
