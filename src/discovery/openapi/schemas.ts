import { type Json, list, object, schemaRef, text, uri } from './json.ts';

const seconds = (description: string): Json => ({ type: 'integer', description });
const strings = (description: string): Json => list({ type: 'string' }, description);

const errors = {
  OAuthError: object(
    {
      error: text('The code (RFC 6749 §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2, RFC 9449 §5).'),
      error_description: text('What is wrong, for people.'),
      request_id: text('The id of the request in our logs, where it is our fault.'),
      trace_id: text('The id of its trace, where it is our fault.'),
    },
    ['error'],
    { description: 'An OAuth error (RFC 6749 §5.2).' },
  ),
  Problem: object(
    {
      type: text('Always `about:blank`: the status says what kind it is.', { format: 'uri-reference' }),
      title: text('What is wrong, for people.'),
      status: { type: 'integer', description: 'The status of the answer.' },
      code: text('What is wrong, for machines: `not_found`, `too_many_requests`, `upstream_timeout` …'),
      request_id: text('The id of the request in our logs.'),
      trace_id: text('The id of its trace (W3C Trace Context).'),
    },
    ['type', 'title', 'status', 'code', 'request_id'],
    { description: 'A problem (RFC 9457).' },
  ),
  GraphqlErrors: object(
    {
      errors: list(
        object(
          {
            message: text('What is wrong, for people.'),
            extensions: object({ code: text('What is wrong, for machines.') }, [], { additionalProperties: true }),
          },
          ['message'],
        ),
      ),
    },
    ['errors'],
    { description: 'A GraphQL answer without data.' },
  ),
  JsonRpcError: object(
    {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number', 'null'], description: 'The id of the request; null when it is not known.' },
      error: object({ code: { type: 'integer' }, message: { type: 'string' }, data: {} }, ['code', 'message']),
    },
    ['jsonrpc', 'id', 'error'],
    { description: 'A JSON-RPC error (JSON-RPC 2.0 §5.1).' },
  ),
};

const clientMembers = {
  client_name: text('The name of the app, as members read it on the consent page.'),
  redirect_uris: list({ type: 'string', format: 'uri' }, 'Where members come back: https, loopback http, or a scheme.'),
  token_endpoint_auth_method: { type: 'string', enum: ['none', 'client_secret_post'], description: 'Default: none.' },
  grant_types: strings('Default: authorization_code and refresh_token.'),
  response_types: strings('Default: code.'),
  client_uri: uri('The home page of the app.'),
  logo_uri: uri('A picture of the app.'),
  tos_uri: uri('The terms of the app.'),
  policy_uri: uri('The privacy policy of the app.'),
  contacts: strings('Who answers for the app.'),
  software_id: text('The same for every installation of one app.'),
  software_version: text('Its version.'),
  dpop_bound_access_tokens: { type: 'boolean', description: 'Whether all its tokens are bound to a key (RFC 9449).' },
  require_pushed_authorization_requests: { type: 'boolean', description: 'RFC 9126 §6.' },
};

const oauth = {
  ClientMetadata: object(clientMembers, ['redirect_uris'], {
    description: 'What an app says of itself (RFC 7591 §2).',
  }),
  RegisteredClient: object(
    {
      ...clientMembers,
      client_id: text('Send it with every request from now on.'),
      client_secret: text('Of confidential clients only.'),
      client_id_issued_at: seconds('Unix time.'),
      client_secret_expires_at: seconds('0: never.'),
      scope: text('The scopes it may ask for.'),
      registration_client_uri: uri('Where the registration can be read, changed and deleted (RFC 7592).'),
      registration_access_token: text('The token for that address. PUT gives a new one.'),
    },
    ['client_id', 'redirect_uris', 'registration_client_uri', 'registration_access_token'],
    { description: 'A registered client (RFC 7591 §3.2.1).' },
  ),
  TokenResponse: object(
    {
      access_token: text('Opaque. Send it in the Authorization field only.'),
      token_type: text('`bearer`, or `DPoP` for a token that is bound to a key.'),
      expires_in: seconds('Seconds that the access token lives.'),
      refresh_token: text('For one use: each refresh gives the next one.'),
      scope: text('What the member allowed, which may be less than was asked for.'),
      id_token: text('With openid: who signed in (OpenID Connect Core §2).'),
    },
    ['access_token', 'token_type', 'expires_in', 'scope'],
    { description: 'RFC 6749 §5.1.' },
  ),
  Introspection: object(
    {
      active: {
        type: 'boolean',
        description: 'False for every token that is not valid, or not the caller’s to ask of.',
      },
      sub: text('The member.'),
      client_id: text('The app.'),
      scope: text('What it may do.'),
      aud: text('The resource that it is bound to (RFC 8707).'),
      iss: uri('The issuer.'),
      exp: seconds('Unix time.'),
      iat: seconds('Unix time.'),
      token_type: text('`Bearer` or `DPoP`, for access tokens.'),
      auth_time: seconds('When the member signed in, Unix time.'),
      acr: text('How the member signed in.'),
      cnf: object({ jkt: text('The thumbprint of its key.') }),
    },
    ['active'],
    { description: 'RFC 7662 §2.2.' },
  ),
  PushedRequest: object(
    {
      request_uri: text('For the authorization request, in place of all but client_id.'),
      expires_in: seconds('Seconds.'),
    },
    ['request_uri', 'expires_in'],
    { description: 'RFC 9126 §2.2.' },
  ),
  Userinfo: object({ sub: text('The member.'), email: text('With email.'), name: text('With profile.') }, ['sub'], {
    description: 'OpenID Connect Core §5.3.2.',
  }),
};

const metadata = {
  ProtectedResourceMetadata: object(
    {
      resource: uri('What to send as `resource`.'),
      authorization_servers: list({ type: 'string', format: 'uri' }, 'The issuer.'),
      scopes_supported: strings('The scopes that tokens for it may have.'),
      bearer_methods_supported: strings('How a token is sent.'),
      dpop_signing_alg_values_supported: strings('How DPoP proofs may be signed.'),
      resource_name: text('What it is called.'),
      resource_documentation: uri('How to get in, for developers and agents.'),
    },
    ['resource', 'authorization_servers', 'bearer_methods_supported'],
    { description: 'RFC 9728 §2.' },
  ),
  AuthorizationServerMetadata: object(
    {
      issuer: uri('Compare it with `iss` of every answer (RFC 9207).'),
      authorization_endpoint: uri('Where members are sent.'),
      token_endpoint: uri('Where codes and refresh tokens are redeemed.'),
      userinfo_endpoint: uri('OpenID Connect Core §5.3.'),
      jwks_uri: uri('The keys of ID tokens.'),
      registration_endpoint: uri('RFC 7591.'),
      revocation_endpoint: uri('RFC 7009.'),
      introspection_endpoint: uri('RFC 7662.'),
      pushed_authorization_request_endpoint: uri('RFC 9126.'),
      service_documentation: uri('How to get in, for developers and agents.'),
      scopes_supported: strings('Every scope.'),
      response_types_supported: strings('code.'),
      grant_types_supported: strings('The grants.'),
      code_challenge_methods_supported: strings('S256.'),
      token_endpoint_auth_methods_supported: strings('How clients authenticate.'),
      client_id_metadata_document_supported: { type: 'boolean', description: 'Whether a URL may be the client_id.' },
      authorization_response_iss_parameter_supported: { type: 'boolean', description: 'RFC 9207.' },
    },
    ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'scopes_supported', 'response_types_supported'],
    { description: 'RFC 8414 §2 and OpenID Connect Discovery §3.' },
  ),
  Jwks: object(
    {
      keys: list(
        object({ kty: { type: 'string' }, kid: { type: 'string' }, alg: { type: 'string' }, use: { type: 'string' } }, [
          'kty',
          'kid',
        ]),
      ),
    },
    ['keys'],
    { description: 'Public keys (RFC 7517 §5).' },
  ),
};

const messages = {
  GraphqlRequest: object(
    {
      query: text('The document.'),
      documentId: text('In its place: the id of a document that is known here.'),
      operationName: { type: ['string', 'null'], description: 'Which of its operations.' },
      variables: { type: ['object', 'null'], description: 'Their values, by name.' },
      extensions: { type: ['object', 'null'] },
    },
    [],
    { description: 'GraphQL over HTTP §5.1.' },
  ),
  GraphqlAnswer: object({ data: { type: ['object', 'null'] }, errors: schemaRef('GraphqlErrorList') }, [], {
    description: 'GraphQL over HTTP §6.2.',
  }),
  GraphqlErrorList: list(object({ message: { type: 'string' } }, ['message'])),
  JsonRpcRequest: object(
    {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'number'], description: 'Left out: a notification, which has no answer.' },
      method: text('`initialize`, `tools/list`, `tools/call` …'),
      params: { type: 'object' },
    },
    ['jsonrpc', 'method'],
    { description: 'One message of the Model Context Protocol.' },
  ),
  JsonRpcResult: object(
    { jsonrpc: { const: '2.0' }, id: { type: ['string', 'number'] }, result: { type: 'object' } },
    ['jsonrpc', 'id', 'result'],
    { description: 'Its answer.' },
  ),
};

/** All of the gate's own schemas for `components`, by name. */
export const SCHEMAS: Readonly<Record<string, Json>> = { ...errors, ...oauth, ...metadata, ...messages };
