import type { RequestHandler, Router } from 'express';
import { type ExecutionResult, GraphQLError, graphql } from 'graphql';
import { addRoute, gatedApi, jsonBody, jsonObject, type Parts } from './api.ts';
import { connectionOf, type Slice } from './connection.ts';
import type { SchoolData } from './data/school-data.ts';
import { asEvent, cancelRegistration, type EventTime, registrationsOf } from './event-registrations.ts';
import { eventsSchema } from './events-schema.ts';
import { identityOf } from './gate-identity.ts';

const MOST_WORDS = 2000;
const MOST_IDS = 100;

/** The events service: GraphQL over HTTP at POST /graphql. Anonymous callers may read the events. */
export function eventsService(parts: Parts): Router {
  const { data, now } = parts;
  const execute: RequestHandler = async (request, response) => {
    const { query, variables, operationName } = jsonObject(request);
    if (typeof query !== 'string') {
      response.status(400).json({ errors: [{ message: 'Send {"query": "…", "variables": {…}}.' }] });
      return;
    }
    const result = await graphql({
      schema: eventsSchema,
      source: query,
      rootValue: rootFor(data, identityOf(response)?.memberId, now()),
      variableValues: Object(variables),
      operationName: operationName == null ? null : String(operationName),
      maxTokens: MOST_WORDS,
    });
    // Without data nothing was executed: the document itself was invalid.
    response.status(result.data === undefined ? 400 : 200).json({ ...result, ...safeErrors(result) });
  };
  return gatedApi('events', parts, (router) => addRoute(router, '/graphql', { post: [jsonBody, execute] }));
}

function rootFor(data: SchoolData, memberId: string | undefined, now: number): object {
  const events = data.events.map(asEvent);
  return {
    membersByIds: ({ ids }: { ids: readonly string[] }) => {
      if (ids.length > MOST_IDS) throw new GraphQLError(`At most ${MOST_IDS} ids at once.`);
      return ids.map((id) => (id === memberId ? memberFor(data, id, now) : null));
    },
    events: (slice: Slice) => connectionOf(events, slice),
    event: ({ id }: { id: string }) => events.find((event) => event.id === id),
    internalAudit: `${data.registrations.length} registrations checked, 0 questions`,
    cancelRegistration: ({ registrationId }: { registrationId: string }) =>
      cancelRegistration(data, memberId, registrationId, now),
    deleteMember: () => {
      throw new GraphQLError('The office only.');
    },
  };
}

function memberFor(data: SchoolData, id: string, now: number): object {
  return {
    id,
    eventRegistrations: ({ when, ...slice }: Slice & { when: EventTime }) =>
      connectionOf(registrationsOf(data, id, when, now), slice),
  };
}

/** Errors of the query are returned to the caller. Errors of the school's own code are only logged. */
function safeErrors({ errors }: ExecutionResult): { errors?: readonly object[] } {
  if (errors === undefined) return {};
  return {
    errors: errors.map((error) => {
      if (error.originalError === undefined || error.originalError instanceof GraphQLError) return error.toJSON();
      console.error('school: a query failed', error.originalError);
      return { ...error.toJSON(), message: 'Something went wrong at the school.' };
    }),
  };
}
