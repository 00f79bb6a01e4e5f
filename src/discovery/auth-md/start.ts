import { DPOP_ALGORITHMS } from '../../oauth/dpop.ts';
import { metadataPath } from '../../oauth/protected-resource.ts';
import type { DescribedService, DescribedTools } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';
import { block, code, codes, durationText, plain, table } from './markdown.ts';

/** The first half of auth.md: what the service offers, and how an app becomes a client. */
export function startSections(service: DescribedService): readonly string[] {
  return [addresses(service), notSupported(service), discover(service), methods(service), ...register(service)];
}

function addresses({ config, mcp }: DescribedService): string {
  const { origin, account, resources } = config;
  const member = mcp === undefined ? [] : [['Tools, token always required', code(origin + mcp.member)]];
  return table([
    ['What', 'Where'],
    ['Service', code(origin)],
    ['Issuer', code(origin)],
    ['Resource', code(origin)],
    ...resources.map(({ path, name }) => [
      `Separate resource${name === undefined ? '' : `: ${plain(name)}`}`,
      code(origin + path),
    ]),
    ...(account === undefined ? [] : [['Account API (GraphQL)', code(origin + account.path)]]),
    ...(mcp === undefined ? [] : [['Tools (Model Context Protocol)', code(origin + mcp.open)]]),
    ...member,
    ['HTTP API (OpenAPI)', code(origin + DISCOVERY_PATHS.openapi)],
  ]);
}

function notSupported({ config, mcp }: DescribedService): string {
  const anonymous = [
    ...(hasPublicTools(mcp) ? ['public tools without a token'] : []),
    ...(config.anonymous === 'serve' ? ['anonymous requests to the HTTP API'] : []),
  ];
  const ways = ['OAuth authorization code with PKCE, with the member present in a browser'];
  return [
    '## agent_auth is not supported',
    'There is no `agent_auth` block in the metadata, and no `identity_endpoint`, `register_uri` or claim endpoint. Do not look for them or try them. Not accepted: `identity_assertion` (ID-JAG), `service_auth`, anonymous registration with a claim step, `client_credentials`, device codes, token exchange, API keys and passwords. Never ask a member for their password.',
    `What is supported: ${[...ways, ...anonymous].join('; ')}.`,
  ].join('\n\n');
}

function discover({ config, endpoints, mcp }: DescribedService): string {
  const { origin } = config;
  const paths = ['', ...config.resources.map(({ path }) => path), ...(mcp === undefined ? [] : [mcp.open, mcp.member])];
  return [
    '## 1. Discover',
    table([
      ['Document', 'GET'],
      ...paths.map((path) => [
        `Protected resource metadata (RFC 9728)${path === '' ? '' : ` of ${code(path)}`}`,
        code(origin + metadataPath(path)),
      ]),
      ['Authorization server metadata (RFC 8414)', code(origin + endpoints.authorizationServerMetadata)],
      ['OpenID Connect Discovery', code(origin + endpoints.openidConfiguration)],
      ['Public keys', code(origin + endpoints.jwks)],
    ]),
    `Read the protected resource metadata first, then the metadata of the authorization server that it names. They are the source of truth for endpoints, grant types and scopes; there is no need to provoke a challenge. Check that \`issuer\` is ${code(origin)}.`,
  ].join('\n\n');
}

function methods({ config, mcp, endpoints }: DescribedService): string {
  const { documents, registration } = config.clients;
  const rows = [
    ...(hasPublicTools(mcp) ? [['Public tools', 'no token is needed', 'nothing: go to step 6']] : []),
    ...(documents.enabled
      ? [['Client ID metadata document', 'the app has an https URL', 'step 3, no request needed']]
      : []),
    ...(registration.enabled
      ? [
          [
            'Dynamic client registration',
            'any other app',
            `step 3, POST ${code(config.origin + endpoints.registration)}`,
          ],
        ]
      : []),
  ];
  const open = documents.enabled || registration.enabled;
  return [
    '## 2. Pick a method',
    ...(rows.length === 0 ? [] : [table([['Method', 'When', 'What to do'], ...rows])]),
    ...(open ? [] : ['Apps cannot register themselves here: ask the course site for a `client_id`.']),
  ].join('\n\n');
}

function register({ config, endpoints }: DescribedService): readonly string[] {
  const { documents, registration, redirects } = config.clients;
  const { origin } = config;
  const kinds = `Public clients use \`token_endpoint_auth_method\` ${code('none')}, confidential ones ${code('client_secret_post')}; their secret is also accepted in HTTP Basic. ID tokens are signed with ${code('RS256')}, or with ${code('ES256')} if the metadata says so (\`id_token_signed_response_alg\`).`;
  const schemes = redirects.schemes.length === 0 ? '' : `, or one of ${codes(redirects.schemes)}`;
  const allowed = redirects.allow.length === 0 ? '' : ` For https, only these domains: ${codes(redirects.allow)}.`;
  const uris = `Redirect URIs: https; http on loopback (\`127.0.0.1\`, \`[::1]\`, \`localhost\`) with any port; a private-use scheme that contains a dot${schemes}.${allowed}`;
  return [
    '## 3. Register',
    ...(documents.enabled
      ? [
          '**Client ID metadata document.** Publish the metadata as JSON at an https URL, with that URL as its `client_id`, and use the URL as `client_id`. No registration is needed.',
        ]
      : ['Client ID metadata documents are not supported here.']),
    ...(registration.enabled
      ? registrationText(`${origin}${endpoints.registration}`, config)
      : ['Dynamic client registration is disabled.']),
    `${kinds} ${uris}`,
  ];
}

function registrationText(url: string, { clients }: DescribedService['config']): readonly string[] {
  const { initialAccessToken, perAddressPerMinute, unusedLifetime } = clients.registration;
  const token =
    initialAccessToken === undefined
      ? 'No token is needed.'
      : 'It needs an initial access token (RFC 7591 section 3) from the course site: send it as `Authorization: Bearer`.';
  return [
    `**Dynamic client registration** (RFC 7591). ${token} Register once and keep the \`client_id\`: each address is limited to ${perAddressPerMinute} registrations per minute, and an app that no member has connected is deleted after ${durationText(unusedLifetime)}.`,
    block([
      `POST ${url}`,
      'Content-Type: application/json',
      ...(initialAccessToken === undefined ? [] : ['Authorization: Bearer <initial_access_token>']),
      '',
      '{"client_name":"<name of your app>","redirect_uris":["<redirect_uri>"],"token_endpoint_auth_method":"none"}',
    ]),
  ];
}

function hasPublicTools(mcp: DescribedTools | undefined): boolean {
  return mcp?.tools.some(({ scopes }) => scopes.size === 0) ?? false;
}

/** How to bind tokens to a key, with the algorithms accepted for proofs. */
export function dpopText(): string {
  return `Tokens can be bound to a key (DPoP, RFC 9449): send a proof signed with ${codes(DPOP_ALGORITHMS)} to the token endpoint, and with every request as \`Authorization: DPoP <access_token>\`.`;
}

/** All tools, with the scopes that each needs. */
export function toolTable({ tools }: DescribedTools): string {
  const rows = tools.map(({ name, descriptor: { title }, scopes }) => [
    code(name),
    plain(title),
    scopes.size === 0 ? 'none: public' : codes(scopes),
  ]);
  return table([['Tool', 'Description', 'Scopes'], ...rows]);
}
