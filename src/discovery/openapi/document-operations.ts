import { metadataPath } from '../../oauth/protected-resource.ts';
import type { DescribedService } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';
import { content, type Json, schemaRef } from './json.ts';
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
          summary: `Read what tokens for ${path === '' ? 'this origin' : path} need`,
          description: 'Protected resource metadata (RFC 9728).',
          responses: plain(content('application/json', schemaRef('ProtectedResourceMetadata'))),
        },
      ]),
    ),
    [`GET ${endpoints.authorizationServerMetadata}`]: {
      operationId: 'authorizationServerMetadata',
      summary: 'Read what the authorization server offers',
      description: 'Authorization server metadata (RFC 8414): every endpoint, grant and scope.',
      responses: plain(server),
    },
    [`GET ${endpoints.openidConfiguration}`]: {
      operationId: 'openidConfiguration',
      summary: 'Read what the OpenID provider offers',
      description: 'The same members as the authorization server metadata (OpenID Connect Discovery §4).',
      responses: plain(server),
    },
    [`GET ${endpoints.jwks}`]: {
      operationId: 'jwks',
      summary: 'Read the public keys',
      description: 'Of ID tokens and of the assertion that upstreams get (RFC 7517 §5).',
      responses: plain(content('application/jwk-set+json', schemaRef('Jwks'))),
    },
    [`GET ${DISCOVERY_PATHS.openapi}`]: {
      operationId: 'openapi',
      summary: 'Read this document',
      description: 'It is made from the routes that run.',
      responses: versioned(content('application/json', { type: 'object' })),
    },
    [`GET ${DISCOVERY_PATHS.authMd}`]: {
      operationId: 'authMd',
      summary: 'Read how an agent gets in',
      description: 'The way from discovery to revocation in words, for agents and those who write them.',
      responses: versioned(content('text/markdown', { type: 'string' })),
    },
  };
}

function plain(body: Json): Json {
  return { 200: answer('The document. It may be kept for five minutes.', body), ...failures('oauth', 429, 503) };
}

function versioned(body: Json): Json {
  const etag = { ETag: header('ETag') };
  return {
    200: answer('The document. It may be kept for five minutes.', body, etag),
    304: answer('It is as it was: If-None-Match names its ETag.', undefined, etag),
    ...failures('problem', 429),
  };
}
