import { type Attempt, lines, product } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';
import { forged, HEADER_LANES, SPELLINGS } from './forged-headers.ts';

/**
 * Identity headers of gateways and load balancers, from their documentation. Backends behind them are configured to trust
 * these headers.
 */
const NAMES: readonly (readonly [gateway: string, names: readonly string[]])[] = [
  [
    'oauth2-proxy',
    ['X-Auth-Request-User', 'X-Auth-Request-Email', 'X-Forwarded-Email', 'X-Forwarded-Preferred-Username'],
  ],
  ['Authelia', ['Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email']],
  ['authentik', ['X-authentik-username', 'X-authentik-groups', 'X-authentik-uid']],
  ['Vouch', ['X-Vouch-User', 'X-Vouch-IdP-Claims-Email', 'X-Vouch-IdP-AccessToken']],
  ['Tailscale', ['Tailscale-User-Login', 'Tailscale-User-Name', 'Tailscale-User-Profile-Pic']],
  ['Cloudflare Access', ['Cf-Access-Authenticated-User-Email', 'Cf-Access-Jwt-Assertion']],
  ['Google IAP', ['X-Goog-Authenticated-User-Email', 'X-Goog-IAP-JWT-Assertion']],
  ['AWS', ['X-Amzn-Oidc-Identity', 'X-Amzn-Oidc-Data']],
  ['Azure', ['X-MS-CLIENT-PRINCIPAL', 'X-MS-CLIENT-PRINCIPAL-ID', 'X-MS-TOKEN-AAD-ID-TOKEN']],
  ['Pomerium', ['X-Pomerium-Claim-Email', 'X-Pomerium-Jwt-Assertion']],
  ['Kong', ['X-Consumer-ID', 'X-Consumer-Username', 'X-Credential-Identifier', 'X-Authenticated-Userid']],
  ['nginx', ['X-SSL-Client-Verify', 'X-SSL-Client-DN', 'X-SSL-Client-Cert', 'X-SSL-Client-S-DN', 'SSL-Client-Cert']],
  ['RFC 9440', ['Client-Cert', 'Client-Cert-Chain']],
  ['Rails', ['Client-IP', 'X-Client-IP']],
  ['Envoy', ['X-Forwarded-Client-Cert', 'X-Envoy-External-Address']],
  ['others', ['X-Auth-User', 'X-User-Name', 'X-User', 'X-User-Id', 'X-Username', 'X-WebAuth-User', 'X-Remote-User']],
];

/** The names alone. */
export const GATEWAY_NAMES: readonly string[] = NAMES.flatMap(([, names]) => names);

export const gatewayIdentity: Family<ProxyStand> = {
  name: 'identity headers of other gateways',
  attempts: (stand) =>
    product(
      product(
        NAMES.flatMap(([gateway, names]) => names.map((name) => [gateway, name] as const)),
        SPELLINGS.slice(0, 4),
      ),
      HEADER_LANES,
    ).map(
      ([[[gateway, name], [how, spell]], lane]): Attempt =>
        forged(stand, `${gateway}: ${name}, ${how}`, lane, lines(`${spell(name)}: evil`)),
    ),
  async after({ answerWithRecords }) {
    answerWithRecords();
    return [];
  },
};
