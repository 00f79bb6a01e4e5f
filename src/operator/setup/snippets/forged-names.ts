import { DECISION_FIELDS } from '../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { FORGED_FIELDS } from './plugin-plan.ts';

/*
 * Names of request fields for gateways that cannot match names with an expression. The gate refuses whatever else it
 * would take for one of them, so such a request is answered with 400 and never forwarded.
 */

/** X-Forwarded-* that backends may trust and gateways do not set themselves, or set later, in what they ask. */
const FORWARDED = [
  ...['access-token', 'by', 'client-cert', 'client-cert-info', 'email', 'groups', 'path', 'port', 'preferred-username'],
  ...['prefix', 'protocol', 'scheme', 'server', 'ssl', 'tls-client-cert', 'tls-client-cert-info', 'user'],
  ...['method', 'uri'],
].map((name) => `x-forwarded-${name}`);

/** The fields of a client that are removed before the gateway asks. `*` matches anything. */
export const REMOVED_FIELDS: readonly string[] = [
  ...FORGED_FIELDS.filter((name) => name !== 'x-forwarded-*' && !name.startsWith('x-forwarded-')),
  ...FORWARDED,
];

/** What clients must not send to the site, by whole names: with what identifies a member to some backends. */
const OWN_NAMES: readonly string[] = [
  ...IDENTITY_FIELDS,
  ...Object.values(DECISION_FIELDS),
  ...['X-Member', 'X-Member-Groups', 'X-Member-Roles'],
];

/** The same in every such spelling, for gateways that match no prefix. */
export const OWN_WHOLE_SPELLINGS: readonly string[] = OWN_NAMES.flatMap((name) => spellings(name.toLowerCase()));

/** What the gate or the gateway says itself, and not the client, in the same spellings. */
export const TRACE_SPELLINGS: readonly string[] = [
  ...['x-request-id', 'proxy-authorization'].flatMap(spellings),
  ...['proxy', 'traceparent', 'tracestate'],
];

/** A name in lower case, in every spelling that a CGI backend takes for it. */
export function spellings(name: string): readonly string[] {
  return name
    .split('-')
    .reduce<readonly string[]>(
      (begun, part) =>
        begun.length === 0 ? [part] : begun.flatMap((one) => ['-', '_', '.', '~'].map((by) => one + by + part)),
      [],
    );
}
