import type { JsonObject } from '../../http/json-object.ts';
import type { DescribedService } from '../described-service.ts';
import { content, jsonBody, object, schemaRef, text, uri } from './json.ts';
import { answer, failures, LOCATION } from './responses.ts';

/** The gate's own operations by method and path, such as `POST /api/oauth/token`. */
export type OwnOperations = Readonly<Record<string, JsonObject>>;

const FORM_LIMIT = 'The body is limited to 56 KiB.';
const RATED = [413, 415, 429, 500, 503] as const;

/** Operations of the authorization server. */
export function oauthOperations({ config, endpoints }: DescribedService): OwnOperations {
  const parameters = parametersOf(config);
  return {
    ...authorizationOperations(endpoints, parameters),
    ...tokenOperations(endpoints, parameters),
    ...registration({ config, endpoints }),
  };
}

interface Parameters {
  readonly resource: JsonObject;
  /** `resource`, if an authorization request requires it. */
  readonly demanded: readonly string[];
  readonly secret: JsonObject;
}

function parametersOf(config: DescribedService['config']): Parameters {
  const required = config.resourceIndicator === 'required';
  const resource = uri(
    `The resource that the token is for (RFC 8707): \`${config.origin}\`, as in the protected resource metadata. ${required ? 'Required, except for a refresh: a refresh token is already bound to its resource.' : 'Optional.'}`,
  );
  const secret = text('Required for confidential clients (client_secret_post).', { format: 'password' });
  return { resource, demanded: required ? ['resource'] : [], secret };
}

function authorizationOperations(
  endpoints: DescribedService['endpoints'],
  { resource, demanded, secret }: Parameters,
): OwnOperations {
  const authorization = { ...AUTHORIZATION, resource };
  const needed = ['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method', ...demanded];
  return {
    [`GET ${endpoints.authorization}`]: {
      operationId: 'authorize',
      summary: 'Ask a member to authorize an app',
      description:
        'Open this URL in the member’s browser. The member signs in and chooses what to allow; the browser is then redirected to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `state` and `iss`.',
      parameters: Object.entries(authorization).map(([name, { description, ...schema }]) => ({
        name,
        in: 'query',
        required: needed.includes(name),
        description,
        schema,
      })),
      responses: {
        200: answer('With response_mode=form_post: a page that posts the response to the app.', PAGE),
        303: answer('A redirect to the sign-in page, or back to the app.', undefined, LOCATION),
        400: answer('An HTML page for the member: it is not safe to redirect to the app.', PAGE),
        429: answer('An HTML page for the member: too many requests.', PAGE),
        503: answer('An HTML page for the member: sign-in is temporarily unavailable.', PAGE),
      },
    },
    [`POST ${endpoints.authorization}`]: {
      operationId: 'authorizeByForm',
      summary: 'Ask a member to authorize an app, by a form',
      description: 'Takes the same parameters in a form (OpenID Connect Core 1.0 section 3.1.2.1), of at most 8 KiB.',
      requestBody: form(authorization, needed),
      responses: {
        303: answer('A redirect to the same request by GET.', undefined, LOCATION),
        400: answer('An HTML page for the member: the form cannot be read.', PAGE),
        413: answer('An HTML page for the member: the form is too long.', PAGE),
        415: answer('An HTML page for the member: the form is compressed.', PAGE),
        429: answer('An HTML page for the member: too many requests.', PAGE),
      },
    },
    [`POST ${endpoints.pushedAuthorization}`]: {
      operationId: 'pushAuthorizationRequest',
      summary: 'Push an authorization request',
      description: `Takes the parameters of the authorization endpoint (RFC 9126 section 2), so that they do not have to be in a URL. ${FORM_LIMIT}`,
      requestBody: form({ ...authorization, client_secret: secret }, needed),
      responses: {
        201: answer('The reference to the pushed request.', json('PushedRequest')),
        ...failures('oauth', 400, 401, ...RATED),
      },
    },
  };
}

function tokenOperations(endpoints: DescribedService['endpoints'], { resource, secret }: Parameters): OwnOperations {
  const authentication = { client_id: text('The ID of the client.'), client_secret: secret };
  const aboutToken = form({ token: text('An access or refresh token.'), token_type_hint: HINT, ...authentication }, [
    'token',
    'client_id',
  ]);
  return {
    [`POST ${endpoints.token}`]: {
      operationId: 'issueToken',
      summary: 'Exchange a code, or refresh a token',
      description: `RFC 6749 sections 4.1.3 and 6. A DPoP header with a proof binds the tokens to its key (RFC 9449 section 5). ${FORM_LIMIT}`,
      requestBody: form(
        {
          grant_type: oneOf('The grant type.', 'authorization_code', 'refresh_token'),
          code: text('For authorization_code: the code.'),
          redirect_uri: text('For authorization_code: the same value as in the authorization request.'),
          code_verifier: text('For authorization_code: the PKCE verifier (RFC 7636 section 4.1).'),
          refresh_token: text('For refresh_token: the most recent refresh token.'),
          scope: text('For refresh_token: a subset of the granted scopes. Default: all of them.'),
          ...authentication,
          resource,
        },
        ['grant_type', 'client_id'],
      ),
      responses: { 200: answer('The tokens.', json('TokenResponse')), ...failures('oauth', 400, 401, ...RATED) },
    },
    [`POST ${endpoints.revocation}`]: {
      operationId: 'revokeToken',
      summary: 'Revoke a token',
      description: `Revoking either token ends the whole connection: all its access tokens and the refresh token (RFC 7009). ${FORM_LIMIT}`,
      requestBody: aboutToken,
      responses: {
        200: answer(
          'An empty object: the token is no longer valid, or never was.',
          content('application/json', object({})),
        ),
        ...failures('oauth', 400, 401, ...RATED),
      },
    },
    [`POST ${endpoints.introspection}`]: {
      operationId: 'introspectToken',
      summary: 'Introspect a token',
      description: `A client can introspect its own tokens; a resource server that the course site has registered can introspect all tokens (RFC 7662). ${FORM_LIMIT}`,
      requestBody: aboutToken,
      responses: {
        200: answer('The state of the token.', json('Introspection')),
        ...failures('oauth', 400, 401, ...RATED),
      },
    },
    ...Object.fromEntries(
      (['GET', 'POST'] as const).map((method) => [
        `${method} ${endpoints.userinfo}`,
        {
          operationId: method === 'GET' ? 'userinfo' : 'userinfoByPost',
          summary: 'Get the member’s claims',
          description:
            'The scope `email` adds the email address, and `profile` the name (OpenID Connect Core section 5.3).',
          responses: { 200: answer('The claims.', json('Userinfo')), ...failures('oauth', 429, 503) },
        },
      ]),
    ),
  };
}

/** Only used for routes that exist. There are none if registration is disabled. */
function registration({ config, endpoints }: Pick<DescribedService, 'config' | 'endpoints'>): OwnOperations {
  const { initialAccessToken, perAddressPerMinute } = config.clients.registration;
  const example = { client_name: 'An app', redirect_uris: ['http://127.0.0.1/callback'] };
  const requestBody = jsonBody('ClientMetadata', example);
  const parameters = [
    { name: 'client_id', in: 'path', required: true, description: 'The ID of the client.', schema: { type: 'string' } },
  ];
  const mine = { parameters, security: [{ registrationAccessToken: [] }] };
  const own = `${endpoints.registration}/*`;
  const rated = failures('oauth', 429, 500, 503);
  const unknown = {
    401: answer('The token is not the registration access token of this client.', json('OAuthError'), BEARER_CHALLENGE),
  };
  return {
    [`POST ${endpoints.registration}`]: {
      operationId: 'registerClient',
      summary: 'Register an app',
      description: `RFC 7591. Unknown metadata is ignored. The body is limited to 16 KiB, and each address to ${perAddressPerMinute} registrations per minute.`,
      ...(initialAccessToken === undefined ? {} : { security: [{ initialAccessToken: [] }] }),
      requestBody,
      responses: {
        201: answer('The registered client.', json('RegisteredClient')),
        ...(initialAccessToken === undefined
          ? {}
          : { 401: answer('The initial access token is missing or wrong.', json('OAuthError'), BEARER_CHALLENGE) }),
        403: answer('The operator has closed registration (`access_denied`).', json('OAuthError')),
        ...failures('oauth', 400, 413, 415),
        ...rated,
      },
    },
    [`GET ${own}`]: {
      operationId: 'readClient',
      summary: 'Get a registration',
      description: 'RFC 7592 section 2.1.',
      ...mine,
      responses: { 200: answer('The registration.', json('RegisteredClient')), ...unknown, ...rated },
    },
    [`PUT ${own}`]: {
      operationId: 'updateClient',
      summary: 'Update a registration',
      description:
        'RFC 7592 section 2.2. The response has a new registration access token. The body is limited to 16 KiB.',
      ...mine,
      requestBody,
      responses: {
        200: answer('The updated registration.', json('RegisteredClient')),
        ...failures('oauth', 400, 413, 415),
        ...unknown,
        ...rated,
      },
    },
    [`DELETE ${own}`]: {
      operationId: 'deleteClient',
      summary: 'Delete a registration',
      description: 'RFC 7592 section 2.3. All connections of the app end as well.',
      ...mine,
      responses: { 204: answer('Deleted.'), ...unknown, ...rated },
    },
  };
}

const AUTHORIZATION: Readonly<Record<string, JsonObject>> = {
  response_type: oneOf('Always `code`.', 'code'),
  client_id: text('The ID of a registered client, or the URL of a client ID metadata document if they are supported.'),
  redirect_uri: text('One of the registered redirect URIs. On loopback, the port may differ.'),
  scope: text('Scopes, separated by spaces.'),
  code_challenge: text('The S256 challenge of the verifier (RFC 7636 section 4.2).', {
    pattern: '^[A-Za-z0-9_-]{43}$',
  }),
  code_challenge_method: oneOf('Always `S256`.', 'S256'),
  state: text('Returned unchanged.'),
};

const HINT = oneOf('The kind of token.', 'access_token', 'refresh_token');
const PAGE = content('text/html', { type: 'string' });
const BEARER_CHALLENGE = {
  'WWW-Authenticate': {
    description: 'RFC 6750 section 3.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer ' },
  },
};

function oneOf(description: string, ...values: readonly string[]): JsonObject {
  return { type: 'string', enum: values, description };
}

function json(schema: string): JsonObject {
  return content('application/json', schemaRef(schema));
}

function form(properties: JsonObject, required: readonly string[]): JsonObject {
  return { required: true, content: content('application/x-www-form-urlencoded', object(properties, required)) };
}
