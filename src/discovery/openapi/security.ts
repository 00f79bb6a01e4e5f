import type { Config } from '../../config/schema.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { DPOP_ALGORITHMS } from '../../oauth/dpop.ts';
import { formatScope } from '../../oauth/scope.ts';
import { type DescribedService, type RouteProtection, textOf } from '../described-service.ts';

/** The `securitySchemes`: how to get tokens, with the URLs and scopes of the running service. */
export function securitySchemes({ config, endpoints, offered }: DescribedService): JsonObject {
  const { origin, clients } = config;
  const { enabled, initialAccessToken } = clients.registration;
  return {
    oauth2: {
      type: 'oauth2',
      description: `Authorization code with PKCE (S256), and \`resource=${origin}\`. Send the access token as \`Authorization: Bearer\`, or a token that is bound to a key as \`Authorization: DPoP\` with a proof (RFC 9449; ${DPOP_ALGORITHMS.join(', ')}).`,
      flows: {
        authorizationCode: {
          authorizationUrl: origin + endpoints.authorization,
          tokenUrl: origin + endpoints.token,
          refreshUrl: origin + endpoints.token,
          scopes: scopeTitles(config),
        },
      },
      // OpenAPI has no member for what the metadata of the resource lists. `coursegate doctor` compares copies with it.
      'x-read-scopes': offered,
    },
    openIdConnect: {
      type: 'openIdConnect',
      description: 'The same tokens, with OpenID Connect Discovery.',
      openIdConnectUrl: origin + endpoints.openidConfiguration,
    },
    ...(enabled && { registrationAccessToken: bearer(REGISTRATION_TOKEN) }),
    ...(enabled && initialAccessToken !== undefined && { initialAccessToken: bearer(INITIAL_TOKEN) }),
  };
}

const REGISTRATION_TOKEN = 'The token from the response to a client’s registration (RFC 7592 section 3).';
const INITIAL_TOKEN = 'A token that the course site gives to developers who may register an app (RFC 7591 section 3).';

function bearer(description: string): JsonObject {
  return { type: 'http', scheme: 'bearer', description };
}

/** Every scope with the title that members read. */
export function scopeTitles({ scopes }: Config): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(scopes).map(([scope, { title }]) => [scope, textOf(title)]));
}

/** The `security` of a protected operation; `{}` means that it is also served without a token. */
export function securityOf({ scopes, anonymous }: RouteProtection): readonly JsonObject[] {
  const needed = [...scopes];
  return [{ oauth2: needed }, { openIdConnect: needed }, ...(anonymous === 'serve' ? [{}] : [])];
}

/** The same in words, for readers of descriptions. */
export function securityText({ scopes, anonymous }: RouteProtection): string {
  const token = scopes.size === 0 ? 'an access token' : `an access token with \`${formatScope(scopes)}\``;
  return anonymous === 'serve'
    ? `Anonymous requests are allowed; a token that is sent must be ${token.replace(/^an /, 'a valid ')}.`
    : `Needs ${token}.`;
}
