import type { Config } from '../../config/schema.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { MEMBER_DETAILS } from '../../oauth/member-details.ts';
import { list, object, schemaRef, text, uri } from './json.ts';

const integer = (description: string): JsonObject => ({ type: 'integer', description });
const flag = (description: string): JsonObject => ({ type: 'boolean', description });
const strings = (description: string): JsonObject => list({ type: 'string' }, description);
const described = (description: string, required: readonly string[], properties: JsonObject): JsonObject =>
  object(properties, required, { description });

const errors = {
  OAuthError: described('An OAuth error (RFC 6749 section 5.2).', ['error'], {
    error: text(
      'The error code (RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 7591 section 3.2.2, RFC 8707 section 2, RFC 9449 section 5).',
    ),
    error_description: text('A description of the error, for humans.'),
    request_id: text('The ID of the request in the logs, for server errors.'),
    trace_id: text('The ID of its trace, for server errors.'),
  }),
  Problem: described('Problem details (RFC 9457).', ['type', 'title', 'status', 'code', 'request_id'], {
    type: text('Always `about:blank`.', { format: 'uri-reference' }),
    title: text('A description of the error, for humans.'),
    status: integer('The status of the response.'),
    code: text('The error code, for programs: `not_found`, `too_many_requests`, `upstream_timeout` …'),
    request_id: text('The ID of the request, as in the logs.'),
    trace_id: text('The ID of its trace (W3C Trace Context).'),
  }),
  GraphqlErrors: described('A GraphQL response without data.', ['errors'], {
    errors: list(
      object(
        {
          message: text('A description of the error, for humans.'),
          extensions: object({ code: text('The error code, for programs.') }, [], { additionalProperties: true }),
        },
        ['message'],
      ),
    ),
  }),
  JsonRpcError: described('A JSON-RPC error (JSON-RPC 2.0 section 5.1).', ['jsonrpc', 'id', 'error'], {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number', 'null'], description: 'The ID of the request; null if it is unknown.' },
    error: object({ code: { type: 'integer' }, message: { type: 'string' }, data: {} }, ['code', 'message']),
  }),
};

const clientMembers = {
  client_name: text('The name of the app, as shown on the consent page.'),
  redirect_uris: list(
    { type: 'string', format: 'uri' },
    'Redirect URIs: https, http on loopback, or a private-use scheme.',
  ),
  token_endpoint_auth_method: { type: 'string', enum: ['none', 'client_secret_post'], description: 'Default: none.' },
  id_token_signed_response_alg: { type: 'string', enum: ['RS256', 'ES256'], description: 'Default: RS256.' },
  grant_types: strings('Default: authorization_code and refresh_token.'),
  response_types: strings('Default: code.'),
  client_uri: uri('The home page of the app.'),
  logo_uri: uri('The logo of the app.'),
  tos_uri: uri('The terms of service of the app.'),
  policy_uri: uri('The privacy policy of the app.'),
  contacts: strings('Contacts of the people responsible for the app.'),
  software_id: text('An identifier that is the same for all installations of the app.'),
  software_version: text('The version of the app.'),
  dpop_bound_access_tokens: flag('Whether all its tokens are bound to a key (RFC 9449).'),
  require_pushed_authorization_requests: flag('RFC 9126 section 6.'),
};

const oauth = {
  ClientMetadata: described('The metadata of an app (RFC 7591 section 2).', ['redirect_uris'], clientMembers),
  RegisteredClient: described(
    'A registered client (RFC 7591 section 3.2.1).',
    ['client_id', 'redirect_uris', 'registration_client_uri', 'registration_access_token'],
    {
      ...clientMembers,
      client_id: text('The ID of the client, to be sent with every request.'),
      client_secret: text('For confidential clients only.'),
      client_id_issued_at: integer('Unix time.'),
      client_secret_expires_at: integer('Unix time, or 0 if it never expires.'),
      scope: text('The scopes that the client may request.'),
      registration_client_uri: uri('The URL to read, update and delete the registration (RFC 7592).'),
      registration_access_token: text('The token for that URL. PUT returns a new one.'),
    },
  ),
  TokenResponse: described('RFC 6749 section 5.1.', ['access_token', 'token_type', 'expires_in', 'scope'], {
    access_token: text('An opaque token. Send it only in the Authorization header.'),
    token_type: text('`bearer`, or `DPoP` for a token that is bound to a key.'),
    expires_in: integer('The lifetime of the access token, in seconds.'),
    refresh_token: text('To be used once: each refresh returns a new one.'),
    scope: text('The granted scopes, which may be fewer than requested.'),
    id_token: text('With openid: the ID token (OpenID Connect Core section 2).'),
  }),
  Introspection: described('RFC 7662 section 2.2.', ['active'], {
    active: flag('False if the token is not valid, or the caller may not introspect it.'),
    sub: text('The ID of the member.'),
    client_id: text('The ID of the app.'),
    scope: text('The granted scopes.'),
    aud: text('The resource that the token is for (RFC 8707).'),
    iss: uri('The issuer.'),
    exp: integer('Unix time.'),
    iat: integer('Unix time.'),
    token_type: text('`Bearer` or `DPoP`, for access tokens.'),
    auth_time: integer('When the member signed in, Unix time. Missing if the login does not say.'),
    acr: text('How the member signed in.'),
    cnf: object({ jkt: text('The thumbprint of the key that the token is bound to.') }),
  }),
  PushedRequest: described('RFC 9126 section 2.2.', ['request_uri', 'expires_in'], {
    request_uri: text('To be sent in the authorization request, with client_id and nothing else.'),
    expires_in: integer('The lifetime, in seconds.'),
  }),
  Userinfo: described('OpenID Connect Core section 5.3.2.', ['sub'], {
    sub: text('The ID of the member.'),
    email_verified: flag('With the scope email, if the site says whether it is verified.'),
    ...Object.fromEntries(
      Object.values(MEMBER_DETAILS).map(({ claim, scope }) => [claim, text(`With the scope ${scope}.`)]),
    ),
  }),
};

const metadata = {
  ProtectedResourceMetadata: described(
    'RFC 9728 section 2.',
    ['resource', 'authorization_servers', 'bearer_methods_supported'],
    {
      resource: uri('The value of `resource` in token requests.'),
      authorization_servers: list({ type: 'string', format: 'uri' }, 'The issuer.'),
      scopes_supported: strings('The scopes that reading needs. Tokens can have more.'),
      bearer_methods_supported: strings('How tokens are sent.'),
      dpop_signing_alg_values_supported: strings('The accepted signing algorithms of DPoP proofs.'),
      resource_name: text('The name of the resource.'),
      resource_documentation: uri('How to get access, for developers and agents.'),
    },
  ),
  AuthorizationServerMetadata: described(
    'RFC 8414 section 2 and OpenID Connect Discovery section 3.',
    ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'scopes_supported', 'response_types_supported'],
    {
      issuer: uri('To be compared with `iss` in every authorization response (RFC 9207).'),
      authorization_endpoint: uri('The authorization endpoint.'),
      token_endpoint: uri('The token endpoint.'),
      userinfo_endpoint: uri('OpenID Connect Core section 5.3.'),
      jwks_uri: uri('The keys of ID tokens.'),
      registration_endpoint: uri('RFC 7591.'),
      revocation_endpoint: uri('RFC 7009.'),
      introspection_endpoint: uri('RFC 7662.'),
      pushed_authorization_request_endpoint: uri('RFC 9126.'),
      service_documentation: uri('How to get access, for developers and agents.'),
      scopes_supported: strings('All scopes, also those for changes.'),
      response_types_supported: strings('Always `code`.'),
      grant_types_supported: strings('The grant types.'),
      code_challenge_methods_supported: strings('Always `S256`.'),
      token_endpoint_auth_methods_supported: strings('How clients authenticate.'),
      id_token_signing_alg_values_supported: strings('The signing algorithms of ID tokens.'),
      client_id_metadata_document_supported: flag(
        'Whether the URL of a client ID metadata document is accepted as client_id.',
      ),
      authorization_response_iss_parameter_supported: flag('RFC 9207.'),
    },
  ),
  Jwks: described('Public keys (RFC 7517 section 5).', ['keys'], {
    keys: list(
      object({ kty: { type: 'string' }, kid: { type: 'string' }, alg: { type: 'string' }, use: { type: 'string' } }, [
        'kty',
        'kid',
      ]),
    ),
  }),
};

const messages = {
  GraphqlRequest: described('GraphQL over HTTP section 5.1.', [], {
    query: text('The GraphQL document.'),
    documentId: text('Instead of `query`: the ID of a trusted document.'),
    operationName: { type: ['string', 'null'], description: 'The operation to execute.' },
    variables: { type: ['object', 'null'], description: 'The values of variables, by name.' },
    extensions: { type: ['object', 'null'] },
  }),
  GraphqlAnswer: described('GraphQL over HTTP section 6.2.', [], {
    data: { type: ['object', 'null'] },
    errors: schemaRef('GraphqlErrorList'),
  }),
  GraphqlErrorList: list(object({ message: { type: 'string' } }, ['message']), 'What failed.'),
  JsonRpcRequest: described('One message of the Model Context Protocol.', ['jsonrpc', 'method'], {
    jsonrpc: { const: '2.0' },
    id: {
      type: ['string', 'number'],
      description: 'Without an ID, the message is a notification, which has no response.',
    },
    method: text('`initialize`, `tools/list`, `tools/call` …'),
    params: { type: 'object' },
  }),
  JsonRpcResult: described('The result of a message.', ['jsonrpc', 'id', 'result'], {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number'] },
    result: { type: 'object' },
  }),
};

const SCHEMAS: Readonly<Record<string, JsonObject>> = { ...errors, ...oauth, ...metadata, ...messages };

/** All of the gate's own schemas for `components`, by name, with the operator's claims. */
export function schemas({ claims }: Pick<Config, 'claims'>): Readonly<Record<string, JsonObject>> {
  const custom = Object.fromEntries(
    Object.entries(claims).map(([name, { scope }]) => [name, { description: `With the scope ${scope}.` }]),
  );
  const extended = (['TokenResponse', 'Userinfo'] as const).map((name) => {
    const { properties, ...rest } = oauth[name];
    return [name, { ...rest, properties: { ...(properties as JsonObject), ...custom } }] as const;
  });
  return { ...SCHEMAS, ...Object.fromEntries(extended) };
}
