import type { JsonObject } from '../../http/json-object.ts';
import { metadataPath } from '../../oauth/protected-resource.ts';
import type { DescribedService } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';
import { content, schemaRef } from './json.ts';
import type { OwnOperations } from './oauth-operations.ts';
import { answer, failures, header } from './responses.ts';

/** Operations of the documents about the service: metadata, keys, the OpenAPI document and auth.md. */
export function documentOperations({ config, endpoints, mcp }: DescribedService): OwnOperations {
  const server = content('application/json', schemaRef('AuthorizationServerMetadata'));
  const parts = [...config.resources.map(({ path }) => path), ...(mcp === undefined ? [] : [mcp.open, mcp.member])];
  return {
    ...Object.fromEntries(
      ['', ...parts].map((path) => [
        `GET ${metadataPath(path)}`,
        {
          operationId: `protectedResourceMetadata${path.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())}`,
          summary: `Get the metadata of ${path === '' ? 'this origin' : path} as a protected resource`,
          description: 'Protected resource metadata (RFC 9728).',
          responses: plain(content('application/json', schemaRef('ProtectedResourceMetadata'))),
        },
      ]),
    ),
    [`GET ${endpoints.authorizationServerMetadata}`]: {
      operationId: 'authorizationServerMetadata',
      summary: 'Get the authorization server metadata',
      description: 'All endpoints, grant types and scopes (RFC 8414).',
      responses: plain(server),
    },
    [`GET ${endpoints.openidConfiguration}`]: {
      operationId: 'openidConfiguration',
      summary: 'Get the OpenID provider metadata',
      description: 'The same members as the authorization server metadata (OpenID Connect Discovery section 4).',
      responses: plain(server),
    },
    [`GET ${endpoints.jwks}`]: {
      operationId: 'jwks',
      summary: 'Get the public keys',
      description: 'The keys of ID tokens and of the assertions that upstreams receive (RFC 7517 section 5).',
      responses: plain(content('application/jwk-set+json', schemaRef('Jwks'))),
    },
    [`GET ${DISCOVERY_PATHS.openapi}`]: {
      operationId: 'openapi',
      summary: 'Get this document',
      description: 'Generated from the running configuration.',
      responses: versioned(content('application/json', { type: 'object' })),
    },
    [`GET ${DISCOVERY_PATHS.authMd}`]: {
      operationId: 'authMd',
      summary: 'Get the instructions for agents',
      description: 'Instructions from discovery to revocation, for agents and their developers.',
      responses: versioned(content('text/markdown', { type: 'string' })),
    },
  };
}

function plain(body: JsonObject): JsonObject {
  return { 200: answer('The document. It may be cached for five minutes.', body), ...failures('oauth', 429, 503) };
}

function versioned(body: JsonObject): JsonObject {
  const etag = { ETag: header('ETag') };
  return {
    200: answer('The document. It may be cached for five minutes.', body, etag),
    304: answer('The document has not changed since the version in If-None-Match.', undefined, etag),
    ...failures('problem', 429),
  };
}
