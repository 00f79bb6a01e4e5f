import { buildSchema, type ExecutionResult, execute, type GraphQLSchema, parse } from 'graphql';
import { memberOf } from './data.ts';
import { coursePart, personOf } from './roots.ts';
import { CONTRACT } from './schemas.ts';

class Failed extends Error {}

const DIALECT = {
  talk: 'Talk',
  status: { CONFIRMED: 'CONFIRMED', CANCELED: 'CANCELED', WAITLISTED: 'WAITLISTED', UNKNOWN: 'UNKNOWN' },
  fail: () => new Failed(),
  instant: (text: string) => text,
} as const;

/** A response in the form that is compared: the data, and the path and code of each error, in any order. */
export interface Outcome {
  readonly data: unknown;
  readonly errors: readonly string[];
}

export const MONOLITH: GraphQLSchema = buildSchema(CONTRACT);

/** Executes an operation with graphql-js alone, on one schema with all data. */
export async function askMonolith(query: string, variableValues: object, memberId: string): Promise<Outcome> {
  const member = memberOf(memberId);
  const viewer = { ...personOf(member, DIALECT), ...coursePart(member, DIALECT.fail) };
  const result = (await execute({
    schema: MONOLITH,
    document: parse(query),
    variableValues: variableValues as Record<string, unknown>,
    rootValue: { viewer },
  })) as ExecutionResult;
  const codeOf = (error: Error | undefined) => (error instanceof Failed ? 'UPSTREAM_ERROR' : 'BAD_USER_INPUT');
  const errors = (result.errors ?? []).map(({ path, originalError }) => `${path?.join('.')} ${codeOf(originalError)}`);
  return { data: result.data, errors: errors.sort() };
}
