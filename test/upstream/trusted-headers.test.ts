import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORIGIN_FIELDS, TRUSTED_IDENTITY } from '../../src/http/trusted-headers.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

/** Headers that gateways, servers and frameworks document, and that backends behind them trust. */
const DOCUMENTED = [
  ...['X-Member', 'X-Member-Id', 'X-Client-Id', 'X-Coursegate-Assertion', 'DPoP'],
  ...[
    'X-Auth-Request-User',
    'X-Auth-Request-Preferred-Username',
    'X-Auth-Request-Access-Token',
    'GAP-Auth',
    'GAP-Signature',
  ],
  ...[
    'X-Forwarded-User',
    'X-Forwarded-Email',
    'X-Forwarded-Groups',
    'X-Forwarded-Preferred-Username',
    'X-Forwarded-Access-Token',
  ],
  ...['X-OAuth2-Proxy-Id-Token', 'Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email', 'REMOTE_USER'],
  ...[
    'X-authentik-username',
    'X-authentik-jwt',
    'X-authentik-uid',
    'X-Vouch-User',
    'X-Vouch-IdP-Claims-Groups',
    'X-Vouch-IdP-IdToken',
  ],
  ...[
    'X-Pomerium-Jwt-Assertion',
    'X-Pomerium-Claim-Email',
    'X-Auth-User',
    'X-Auth-Userid',
    'X-Auth-Username',
    'X-Auth-User-Id',
  ],
  ...[
    'X-Auth-Email',
    'X-Auth-Name',
    'X-Auth-Subject',
    'X-Auth-Sub',
    'X-Auth-Groups',
    'X-Auth-Roles',
    'X-Auth-Audience',
  ],
  ...[
    'X-Auth-ExpiresIn',
    'X-Auth-Given-Name',
    'X-Auth-Family-Name',
    'X-Auth-Preferred-Username',
    'X-Token-Subject',
    'X-Token-User-Name',
  ],
  ...[
    'X-Token-User-Roles',
    'Auth-User',
    'Auth-Cn',
    'Auth-Mail',
    'Auth-Groups',
    'Auth-Uid',
    'Lm-Remote-User',
    'YNH_USER',
    'YNH-User-Email',
  ],
  ...[
    'X-Sandstorm-User-Id',
    'X-Sandstorm-Permissions',
    'X-SP-UserId',
    'X-SP-UserGroups',
    'RStudio-Connect-Credentials',
  ],
  ...[
    'Posit-Connect-User-Session-Token',
    'X-User',
    'X-User-Id',
    'X-Authenticated-User',
    'X-Authenticated-Userid',
    'X-User-Name',
  ],
  ...['X-Username', 'X-User-Email', 'X-User-Roles', 'X-User-Role', 'X-User-Groups', 'X-User-Claims'],
  ...['Cf-Access-Authenticated-User-Email', 'Cf-Access-Jwt-Assertion', 'Cf-Client-Cert-Der-Base64', 'Cf-Cert-Verified'],
  ...['CF-Connecting-IP', 'CF-Connecting-IPv6', 'CF-Connecting-O2O', 'Cf-Pseudo-IPv4', 'CF-Visitor', 'True-Client-IP'],
  ...[
    'X-Goog-Authenticated-User-Email',
    'X-Goog-Authenticated-User-Id',
    'X-Goog-IAP-JWT-Assertion',
    'X-Appengine-User-Email',
  ],
  ...[
    'X-Appengine-Cron',
    'X-AppEngine-User-Is-Admin',
    'X-Apigateway-Api-Userinfo',
    'X-Endpoint-API-UserInfo',
    'X-Google-Internal-Skipadmincheck',
  ],
  ...[
    'X-Amzn-Oidc-Identity',
    'X-Amzn-Oidc-Data',
    'X-Amzn-Oidc-Accesstoken',
    'X-Amzn-Mtls-Clientcert',
    'X-Amzn-Mtls-Clientcert-Subject',
  ],
  ...[
    'X-Apigateway-Event',
    'X-Apigateway-Context',
    'X-Amzn-Request-Context',
    'X-MS-CLIENT-PRINCIPAL',
    'X-MS-CLIENT-PRINCIPAL-NAME',
  ],
  ...[
    'X-MS-TOKEN-AAD-ID-TOKEN',
    'X-ARR-ClientCert',
    'X-Azure-FDID',
    'CLIENT-IP',
    'X-Client-IP',
    'X-Client-Port',
    'X-ARR-SSL',
  ],
  ...[
    'X-AppService-Proto',
    'X-Azure-ClientIP',
    'X-Azure-SocketIP',
    'DISGUISED-HOST',
    'WAS-DEFAULT-HOSTNAME',
    'X-WAWS-Unencoded-URL',
  ],
  ...['Tailscale-User-Login', 'Tailscale-User-Name', 'Tailscale-User-Profile-Pic', 'Tailscale-App-Capabilities'],
  ...[
    'Fastly-Client-IP',
    'Fastly-FF',
    'Fastly-SSL',
    'Akamai-Origin-Hop',
    'Fly-Client-IP',
    'Fly-Forwarded-Proto',
    'Incap-Client-IP',
  ],
  ...[
    'X-Sucuri-ClientIP',
    'DO-Connecting-IP',
    'X-Vercel-Forwarded-For',
    'Ali-CDN-Real-IP',
    'X-Nf-Client-Connection-Ip',
  ],
  ...['CloudFront-Viewer-Address', 'CloudFront-Forwarded-Proto', 'Cdn-Src-Ip', 'Client-Cert', 'Client-Cert-Chain'],
  ...[
    'X-SSL',
    'X-SSL-Client-Verify',
    'X-SSL-Client-CN',
    'X-SSL-Client-DN',
    'X-SSL-Client-SHA1',
    'X-SSL-Cert',
    'X-SSL-Issuer',
  ],
  ...[
    'SSL_CLIENT_S_DN',
    'SSL_CLIENT_CERT',
    'ssl-client-verify',
    'ssl-client-subject-dn',
    'SSL_SERVER_S_DN',
    'ssl_cipher',
  ],
  ...[
    'ssl_cipher_usekeysize',
    'ssl_session_id',
    'SSL_PROTOCOL',
    'X-Client-Verify',
    'X-Client-DN',
    'X-Client-Cert',
    'X-Client-Cert-Serial',
  ],
  ...[
    'X-Client-Certificate',
    'X-ClientCert',
    'MS-ASPNETCORE-TOKEN',
    'MS-ASPNETCORE-WINAUTHTOKEN',
    'X-IIS-WindowsAuthToken',
    'X-iisnode-AUTH_USER',
  ],
  ...[
    'X-Consumer-ID',
    'X-Consumer-Username',
    'X-Consumer-Groups',
    'X-Credential-Identifier',
    'X-Anonymous-Consumer',
    'X-Userinfo',
  ],
  ...['X-Access-Token', 'X-ID-Token', 'X-UserId', 'X-Nickname', 'X-JWT-Payload', 'X-JWT-Assertion', 'X-Jwt-Claim-Sub'],
  ...[
    'Sec-Istio-Auth-Userinfo',
    'X-Istio-Attributes',
    'Teleport-Jwt-Assertion',
    'X-Forwarded-Client-Cert',
    'X-Envoy-External-Address',
  ],
  ...[
    'X-Envoy-Original-Path',
    'l5d-client-id',
    'l5d-dst-override',
    'OIDC_CLAIM_sub',
    'OIDC_access_token',
    'MELLON_NAME_ID',
    'CAS-User',
    'CAS_mail',
  ],
  ...[
    'Shib-Identity-Provider',
    'Shib-Session-ID',
    'eppn',
    'affiliation',
    'unscoped-affiliation',
    'entitlement',
    'targeted-id',
  ],
  ...[
    'persistent-id',
    'subject-id',
    'pairwise-id',
    'eduPersonPrincipalName',
    'uid',
    'mail',
    'cn',
    'sn',
    'givenName',
    'displayName',
  ],
  ...['iv-user', 'iv-user-l', 'iv-groups', 'iv-creds', 'iv-remote-address', '$WSRU', '$WSCC', '$WSRA', '$WSIS'],
  ...[
    'WL-Proxy-Client-IP',
    'WL-Proxy-Client-Cert',
    'WL-Proxy-SSL',
    'Proxy-Client-IP',
    'OAM_REMOTE_USER',
    'OAM-Identity-Domain',
  ],
  ...[
    'Osso-User-DN',
    'SM_USER',
    'SM-UniversalID',
    'SMUSER',
    'SMSESSION',
    'X-WEBAUTH-USER',
    'X-WEBAUTH-ROLE',
    'X-Grafana-Id',
  ],
  ...[
    'X-Grafana-User',
    'X-Scope-OrgID',
    'X-Remote-User',
    'X-Remote-Group',
    'X-Remote-Extra-Acme',
    'X-Remote-Addr',
    'X-Remote-IP',
  ],
  ...['Impersonate-User', 'Impersonate-Group', 'AuthUser', 'Redirect-Remote-User', 'x-proxy-user', 'x-proxy-roles'],
  ...['es-security-runas-user', 'PHP_AUTH_USER', 'Php-Auth-Pw', 'X-Catalyst-Credential-Upstream-User'],
  ...[
    'Forwarded',
    'Forwarded-For',
    'Forwarded-Proto',
    'X-Forwarded',
    'X-Forward-For',
    'Z-Forwarded-For',
    'X-Forwarded-For',
  ],
  ...[
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'X-Forwarded-Ssl',
    'X-Forwarded-Tls-Client-Cert',
  ],
  ...[
    'X-True-Client-IP',
    'True-Client-Port',
    'X-Real-IP',
    'X-Real-Port',
    'X-Cluster-Client-IP',
    'X-Originating-IP',
    'X-ProxyUser-Ip',
  ],
  ...['X-Scheme', 'X-Url-Scheme', 'X-Script-Name', 'X-Host', 'Front-End-Https', 'X-Proxied-Https', 'SSL-OFFLOADED'],
  ...[
    'X-Original-URL',
    'X-Original-Host',
    'X-Original-Forwarded-For',
    'X-Rewrite-URL',
    'X-Override-URL',
    'X-Accel-Redirect',
    'X-Sendfile-Type',
  ],
  ...[
    'X-Middleware-Subrequest',
    'X-HTTP-Method',
    'X-HTTP-Method-Override',
    'X-Method-Override',
    'X-Tunneled-Method',
    'Proxy',
  ],
];

/** Headers that pages, frameworks and browsers send to a site. */
const ORDINARY = [
  ...[
    'Accept',
    'Accept-Language',
    'Content-Language',
    'DNT',
    'Origin',
    'Referer',
    'User-Agent',
    'If-Match',
    'Range',
    'From',
  ],
  ...[
    'X-Requested-With',
    'X-CSRF-Token',
    'X-CSRFToken',
    'X-XSRF-TOKEN',
    'X-Api-Key',
    'X-Auth-Token',
    'X-Auth-Key',
    'X-WP-Nonce',
  ],
  ...[
    'X-Refresh-Token',
    'X-Token',
    'X-JWT',
    'X-User-Agent',
    'X-Client-Version',
    'X-Client-Data',
    'X-Inertia',
    'X-Livewire',
  ],
  ...[
    'HX-Request',
    'HX-Current-URL',
    'Turbo-Frame',
    'RSC',
    'Next-Router-State-Tree',
    'X-PJAX',
    'X-Socket-Id',
    'CF-IPCountry',
  ],
  ...[
    'CF-Ray',
    'X-Session-Id',
    'X-Device-Id',
    'X-Timezone',
    'X-Locale',
    'Sec-Fetch-Site',
    'Sec-CH-UA',
    'X-Do-Not-Track',
    'SOAPAction',
  ],
  ...[
    'Depth',
    'Destination',
    'Overwrite',
    'Tus-Resumable',
    'Upload-Length',
    'Name',
    'Email',
    'Idempotency-Key',
    'X-Moz',
  ],
];

const SPELLINGS: readonly (readonly [string, (name: string) => string])[] = [
  ['as documented', (name) => name],
  ['in small letters', (name) => name.toLowerCase()],
  ['in capitals', (name) => name.toUpperCase()],
  ['with underscores', (name) => name.replaceAll('-', '_')],
  ['with hyphens', (name) => name.replaceAll('_', '-')],
  ['with dots', (name) => name.replace(/[-_]/g, '.')],
  ['with other signs', (name) => name.replace(/[-_]/g, '~')],
];
const UPGRADE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

let upstream: RecordingUpstream;
let gate: TestGate;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  upstream.onUpgrade((_request, socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'));
  gate = await startGate(upstream.url);
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

/** Returns the names that arrived with the value that was sent. */
async function arrived(path: string, names: readonly string[], more: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < names.length; at += 40) {
    const before = upstream.requests.length;
    const fields = names.slice(at, at + 40).map((name) => `${name}: evil`);
    const close = more.length === 0 ? ['Connection: close'] : [];
    await gate.raw([`GET ${path} HTTP/1.1`, 'Host: gate.test', ...close, ...more, ...fields, '', ''].join('\r\n'));
    expect(upstream.requests.length).toBe(before + 1);
    const { rawHeaders } = upstream.last();
    found.push(...rawHeaders.filter((_, index) => index % 2 === 0 && /evil/.test(rawHeaders[index + 1] ?? '')));
  }
  return found;
}

describe.each([
  ['on the site', '/x', []],
  ['on a member’s route', '/api/x', []],
  ['on an open route', '/open/x', []],
  ['in a handshake', '/live', UPGRADE],
] as const)('%s', (_lane, path, more) => {
  it.each(SPELLINGS)('removes every field that a backend may trust, %s', async (_title, spell) => {
    expect(await arrived(path, DOCUMENTED.map(spell), more)).toEqual([]);
  });
});

it('the site gets all other fields', async () => {
  const inSmallLetters = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  expect(inSmallLetters(await arrived('/x', ORDINARY))).toEqual(inSmallLetters(ORDINARY));
  // A handshake from another origin would be refused for that reason.
  const inHandshakes = ORDINARY.filter((name) => name !== 'Origin');
  expect(inSmallLetters(await arrived('/live', inHandshakes, UPGRADE))).toEqual(inSmallLetters(inHandshakes));
});

it('every entry of the list matches a documented field', () => {
  const folded = DOCUMENTED.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, '-'));
  const matches = (entry: string, name: string) =>
    entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry;
  const unused = [...TRUSTED_IDENTITY, ...ORIGIN_FIELDS].filter(
    (entry) => !folded.some((name) => matches(entry, name)),
  );
  expect(unused).toEqual([]);
});
