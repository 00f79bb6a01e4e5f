import { sizeText } from '../../http/amounts.ts';
import type { JsonObject } from '../../http/json-object.ts';
import type { DescribedService, DescribedTools } from '../described-service.ts';
import { content, jsonBody, schemaRef } from './json.ts';
import type { OwnOperations } from './oauth-operations.ts';
import { answer, failures, header, LEFT, responseRef } from './responses.ts';

/**
 * Operations of the Account API and MCP. Each is one URL with its own protocol, which OpenAPI does not describe.
 */
export function interfaceOperations({ config, mcp }: DescribedService): OwnOperations {
  const { account } = config;
  return {
    ...(account === undefined ? {} : { [`POST ${account.path}`]: accountOperation(sizeText(account.bodyLimit)) }),
    ...(mcp === undefined || config.mcp === undefined
      ? {}
      : {
          [`POST ${mcp.open}`]: toolOperation(mcp, 'callTools', sizeText(config.mcp.bodyLimit)),
          [`POST ${mcp.member}`]: toolOperation(mcp, 'callToolsAsMember', sizeText(config.mcp.bodyLimit)),
        }),
  };
}

function accountOperation(limit: string): JsonObject {
  const both = (schema: JsonObject) => ({
    ...content('application/json', schema),
    ...content('application/graphql-response+json', schema),
  });
  return {
    operationId: 'queryAccount',
    summary: 'Query the Account API',
    description: `GraphQL over HTTP: the member’s own data. Introspection returns the schema. A mutation may need more scopes than the endpoint, and is otherwise answered with 403. The body is limited to ${limit}.`,
    requestBody: jsonBody('GraphqlRequest', { query: '{ viewer { id email } }' }),
    responses: {
      200: answer('Data, errors, or both.', both(schemaRef('GraphqlAnswer')), LEFT),
      400: answer('The request is malformed, or its document is invalid.', both(schemaRef('GraphqlErrors')), LEFT),
      401: responseRef('Unauthorized'),
      403: answer(
        'The token lacks a scope that the endpoint or the mutation needs.',
        content('application/json', { anyOf: [schemaRef('OAuthError'), schemaRef('GraphqlErrors')] }),
        { 'WWW-Authenticate': header('Challenge') },
      ),
      ...failures('graphql', 406, 413, 415, 429, 500, 503),
    },
  };
}

function toolOperation({ tools }: DescribedTools, operationId: string, limit: string): JsonObject {
  const forMembers = operationId === 'callToolsAsMember';
  const shown = tools.filter(({ scopes }) => forMembers || scopes.size === 0).map(({ name }) => `\`${name}\``);
  const which = forMembers
    ? `It always requires a token, and has all tools that the token’s scopes allow: ${shown.join(', ')}.`
    : `Without a token, it has the public tools: ${shown.join(', ') || 'none'}. With a token, it also has the tools that its scopes allow.`;
  return {
    operationId,
    summary: forMembers ? 'Use tools as a member' : 'Use tools',
    description: `Model Context Protocol over HTTP: one JSON-RPC message per request, answered in JSON. ${which} The body is limited to ${limit}.`,
    requestBody: jsonBody('JsonRpcRequest', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    responses: {
      200: answer(
        'The result of the method, or its error.',
        content('application/json', { anyOf: [schemaRef('JsonRpcResult'), schemaRef('JsonRpcError')] }),
        LEFT,
      ),
      202: answer('The notification was accepted.'),
      ...failures('jsonrpc', 400, 404, 413, 415, 429, 500, 503),
      401: responseRef('Unauthorized'),
      403: answer(
        'The token lacks a scope that the tool needs, or the origin of the page is not allowed.',
        content('application/json', { anyOf: [schemaRef('OAuthError'), schemaRef('JsonRpcError')] }),
        { 'WWW-Authenticate': header('MaybeChallenge') },
      ),
    },
  };
}
