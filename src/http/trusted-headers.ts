import { OWN_IDENTITY } from './identity-fields.ts';
import fields from './trusted-headers.json' with { type: 'json' };

/*
 * Request fields that gateways use to tell backends who the user is, or where a request came from and what it is for.
 * Collected in trusted-headers.json from the documentation of the gateways, servers and frameworks that write or trust
 * them. A backend may trust any of them, so none is accepted from a client. Names are in the folded form (see
 * `foldedName`); a final `*` matches any ending. Credentials that a site's own pages send (X-Api-Key, X-Auth-Token,
 * X-Refresh-Token, X-CSRF-Token) are not identity: a site checks them itself.
 */

/** Who the user is: our own fields, DPoP (RFC 9449 section 4.1), and those of others. */
export const TRUSTED_IDENTITY: readonly string[] = [
  ...OWN_IDENTITY,
  'dpop',
  ...fields.identity.flatMap(({ names }) => names),
];

/** Where a request came from, and what it is for. */
export const ORIGIN_FIELDS: readonly string[] = fields.origin.flatMap(({ names }) => names);

/**
 * The members of such families that products document, for gateways that know no asterisk. Of X-Forwarded-*, those that
 * gateways do not set themselves, or set later.
 */
export const FAMILY_MEMBERS: readonly string[] = [...fields.identity, ...fields.origin].flatMap(
  ({ members }) => members ?? [],
);
