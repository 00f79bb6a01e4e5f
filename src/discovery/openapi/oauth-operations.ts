import type { DescribedService } from '../described-service.ts';
import { content, type Json, object, schemaRef, text, uri } from './json.ts';
import { answer, failures } from './responses.ts';

/** The gate's own operations by method and path, such as `POST /api/oauth/token`. */
export type OwnOperations = Readonly<Record<string, Json>>;

const FORM_LIMIT = 'The body has at most 56 KiB.';
const RATED = [413, 415, 429, 500, 503] as const;

/** Operations of the authorization server. */
export function oauthOperations({ config, endpoints }: DescribedService): OwnOperations {
  const required = config.resourceIndicator === 'required';
  const resource = uri(
    `The resource the token is for (RFC 8707): \`${config.origin}\`, as the protected resource metadata says. ${required ? 'Always needed, here and at the token endpoint.' : 'May be left out.'}`,
  );
  const demanded = required ? ['resource'] : [];
  const authorization = { ...AUTHORIZATION, resource };
  const needed = ['response_type', 'client_id', 'redirect_uri', 'code_challenge', 'code_challenge_method', ...demanded];
  const clientId = text('The client.');
  const secret = text('Of confidential clients (client_secret_post).', { format: 'password' });
  const authentication = { client_id: clientId, client_secret: secret };

  return {
    [`GET ${endpoints.authorization}`]: {
      operationId: 'authorize',
      summary: 'Ask a member to connect an app',
      description:
        'Open it in the browser of the member. They sign in and choose what to allow; then the browser comes back to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `state` and `iss`.',
      parameters: Object.entries(authorization).map(([name, { description, ...schema }]) => ({
        name,
        in: 'query',
        required: needed.includes(name),
        description,
        schema,
      })),
      responses: {
        200: answer('With response_mode=form_post: a page that posts the answer to the app.', PAGE),
        303: answer('On to the sign-in, or back to the app.', undefined, {
          Location: { description: 'Where to.', required: true, schema: { type: 'string', format: 'uri-reference' } },
        }),
        400: answer('A page for the person: it is not safe to send them back to the app.', PAGE),
        429: answer('A page for the person: too many requests.', PAGE),
        503: answer('A page for the person: the sign-in is not available right now.', PAGE),
      },
    },
    [`POST ${endpoints.pushedAuthorization}`]: {
      operationId: 'pushAuthorizationRequest',
      summary: 'Send an authorization request ahead',
      description: `Takes what the authorization endpoint takes (RFC 9126 §2), so that it need not stand in a URL. ${FORM_LIMIT}`,
      requestBody: form({ ...authorization, client_secret: secret }, needed),
      responses: { 201: answer('Taken.', json('PushedRequest')), ...failures('oauth', 400, 401, ...RATED) },
    },
    [`POST ${endpoints.token}`]: {
      operationId: 'issueToken',
      summary: 'Redeem a code, or refresh a token',
      description: `RFC 6749 §4.1.3 and §6. A DPoP field with a proof binds the tokens to its key (RFC 9449 §5). ${FORM_LIMIT}`,
      requestBody: form(
        {
          grant_type: {
            type: 'string',
            enum: ['authorization_code', 'refresh_token'],
            description: 'What is redeemed.',
          },
          code: text('authorization_code: the code.'),
          redirect_uri: text('authorization_code: the same as in the authorization request.'),
          code_verifier: text('authorization_code: the PKCE verifier (RFC 7636 §4.1).'),
          refresh_token: text('refresh_token: the last one that was given.'),
          scope: text('refresh_token: less than was allowed; left out, all of it.'),
          ...authentication,
          resource,
        },
        ['grant_type', 'client_id', ...demanded],
      ),
      responses: { 200: answer('Tokens.', json('TokenResponse')), ...failures('oauth', 400, 401, ...RATED) },
    },
    [`POST ${endpoints.revocation}`]: {
      operationId: 'revokeToken',
      summary: 'End a connection',
      description: `Either token ends the whole connection: the access tokens and the refresh token (RFC 7009). ${FORM_LIMIT}`,
      requestBody: form({ token: text('An access or refresh token.'), token_type_hint: HINT, ...authentication }, [
        'token',
        'client_id',
      ]),
      responses: {
        200: answer('It is not valid any more, or never was. There is no body.'),
        ...failures('oauth', 400, 401, ...RATED),
      },
    },
    [`POST ${endpoints.introspection}`]: {
      operationId: 'introspectToken',
      summary: 'Ask what a token is',
      description: `A client may ask of its own tokens, a resource server that the school knows of all (RFC 7662). ${FORM_LIMIT}`,
      requestBody: form({ token: text('An access or refresh token.'), token_type_hint: HINT, ...authentication }, [
        'token',
        'client_id',
      ]),
      responses: { 200: answer('What it is.', json('Introspection')), ...failures('oauth', 400, 401, ...RATED) },
    },
    ...Object.fromEntries(
      (['GET', 'POST'] as const).map((method) => [
        `${method} ${endpoints.userinfo}`,
        {
          operationId: method === 'GET' ? 'userinfo' : 'userinfoByPost',
          summary: 'Read who the member is',
          description: 'Claims by scope: `email` gives the address, `profile` the name (OpenID Connect Core §5.3).',
          responses: { 200: answer('The claims.', json('Userinfo')), ...failures('oauth', 429, 503) },
        },
      ]),
    ),
    ...registration({ config, endpoints }),
  };
}

/** Only used for routes that exist. There are none if registration is disabled. */
function registration({ config, endpoints }: Pick<DescribedService, 'config' | 'endpoints'>): OwnOperations {
  const { initialAccessToken, perAddressPerMinute } = config.clients.registration;
  const requestBody = {
    required: true,
    content: {
      'application/json': {
        schema: schemaRef('ClientMetadata'),
        example: { client_name: 'An app', redirect_uris: ['http://127.0.0.1/callback'] },
      },
    },
  };
  const parameters = [
    { name: 'client_id', in: 'path', required: true, description: 'The client.', schema: { type: 'string' } },
  ];
  const mine = { parameters, security: [{ registrationAccessToken: [] }] };
  const own = `${endpoints.registration}/*`;
  const rated = failures('oauth', 429, 500, 503);
  const unknown = { 401: answer('The token is not the one of this client.', json('OAuthError'), BEARER_CHALLENGE) };
  return {
    [`POST ${endpoints.registration}`]: {
      operationId: 'registerClient',
      summary: 'Register an app',
      description: `RFC 7591. What is not known here is left out of what is registered. The body has at most 16 KiB; ${perAddressPerMinute} registrations a minute are taken of one address.`,
      ...(initialAccessToken === undefined ? {} : { security: [{ initialAccessToken: [] }] }),
      requestBody,
      responses: {
        201: answer('Registered.', json('RegisteredClient')),
        ...(initialAccessToken === undefined
          ? {}
          : { 401: answer('The initial access token is missing or wrong.', json('OAuthError'), BEARER_CHALLENGE) }),
        ...failures('oauth', 400, 413, 415),
        ...rated,
      },
    },
    [`GET ${own}`]: {
      operationId: 'readClient',
      summary: 'Read a registration',
      description: 'RFC 7592 §2.1.',
      ...mine,
      responses: { 200: answer('The registration.', json('RegisteredClient')), ...unknown, ...rated },
    },
    [`PUT ${own}`]: {
      operationId: 'updateClient',
      summary: 'Change a registration',
      description: 'RFC 7592 §2.2. The answer has a new registration access token. The body has at most 16 KiB.',
      ...mine,
      requestBody,
      responses: {
        200: answer('As it is now.', json('RegisteredClient')),
        ...failures('oauth', 400, 413, 415),
        ...unknown,
        ...rated,
      },
    },
    [`DELETE ${own}`]: {
      operationId: 'deleteClient',
      summary: 'Delete a registration',
      description: 'RFC 7592 §2.3. The connections of the app end with it.',
      ...mine,
      responses: { 204: answer('Deleted.'), ...unknown, ...rated },
    },
  };
}

const AUTHORIZATION: Readonly<Record<string, Json>> = {
  response_type: { type: 'string', enum: ['code'], description: 'code.' },
  client_id: text('The registered client, or the URL of its metadata document where those are taken.'),
  redirect_uri: text('Where to come back: one of those registered; on loopback with any port.'),
  scope: text('Scopes, with spaces between them.'),
  code_challenge: text('The S256 challenge of the verifier (RFC 7636 §4.2).', { pattern: '^[A-Za-z0-9_-]{43}$' }),
  code_challenge_method: { type: 'string', enum: ['S256'], description: 'S256.' },
  state: text('Comes back unchanged.'),
};

const HINT = { type: 'string', enum: ['access_token', 'refresh_token'], description: 'Which it is.' };
const PAGE = content('text/html', { type: 'string' });
const BEARER_CHALLENGE = {
  'WWW-Authenticate': { description: 'RFC 6750 §3.', required: true, schema: { type: 'string', pattern: '^Bearer ' } },
};

function json(schema: string): Json {
  return content('application/json', schemaRef(schema));
}

function form(properties: Json, required: readonly string[]): Json {
  return { required: true, content: content('application/x-www-form-urlencoded', object(properties, required)) };
}
