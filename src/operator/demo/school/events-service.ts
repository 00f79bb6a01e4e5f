import type { RequestHandler, Router } from 'express';
import { buildSchema, graphql, isScalarType } from 'graphql';
import { asset } from '../site.ts';
import { addRoute, gatedApi, jsonBody, jsonObject, type Parts } from './api.ts';
import { eventsRoot } from './events-root.ts';
import { identityOf } from './gate-identity.ts';

const MOST_WORDS = 2000;

/** The events service: GraphQL over HTTP at POST /graphql. Anonymous callers may read the events. */
export function eventsService(parts: Parts): Router {
  const schema = buildSchema(asset('school/events.graphql'));
  const dateTime = schema.getType('DateTime');
  if (isScalarType(dateTime)) dateTime.coerceOutputValue = (seconds) => new Date(Number(seconds) * 1000).toISOString();
  const execute: RequestHandler = async (request, response) => {
    const { query, variables, operationName } = jsonObject(request);
    const result = await graphql({
      schema,
      source: String(query),
      rootValue: eventsRoot(parts.data, identityOf(response)?.sub, parts.now()),
      variableValues: Object(variables),
      operationName: operationName == null ? null : String(operationName),
      maxTokens: MOST_WORDS,
    });
    // Without data nothing was executed: the document itself was invalid.
    response.status(result.data === undefined ? 400 : 200).json(result);
  };
  return gatedApi('events', parts, (router) => addRoute(router, '/graphql', { post: [jsonBody, execute] }));
}
