import type { UpstreamRequest } from '../../upstream/request.ts';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { Connector, HeaderTemplate } from './connector.ts';
import type { VariableValues } from './evaluate.ts';
import { MappingValueError } from './mapping-value.ts';
import { fillForm, fillHeader, fillPath, fillQuery } from './template.ts';

export const JSON_ONLY = 'application/json';

/** Error code for a value that cannot be used in a call, by where it came from. */
const REFUSED_VALUE: Readonly<Record<Connector['takes'], AccountErrorCode>> = {
  arguments: 'BAD_USER_INPUT',
  data: 'UPSTREAM_BAD_RESPONSE',
  nothing: 'INTERNAL_SERVER_ERROR',
};

function fillBody({ kind, evaluate }: NonNullable<Connector['body']>, variables: VariableValues): string {
  const value = evaluate(null, variables);
  if (kind === 'form') return fillForm(value as Record<string, unknown>);
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof MappingValueError) throw part;
    return part;
  });
}

/**
 * The request of a connector.
 *
 * @throws {AccountError} when a value cannot be used in it
 */
export function requestOf(
  { source, method, path, query, body, headers, takes }: Connector,
  common: readonly HeaderTemplate[],
  variables: VariableValues,
): UpstreamRequest {
  try {
    const search = query === undefined ? '' : fillQuery(query(null, variables) as Record<string, unknown>);
    return {
      upstream: source,
      method,
      path: fillPath(path, variables) + search,
      headers: {
        accept: JSON_ONLY,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...filledHeaders([...common, ...headers], variables),
      },
      ...(body === undefined ? {} : { body: fillBody(body, variables) }),
    };
  } catch (thrown) {
    if (!(thrown instanceof MappingValueError)) throw thrown;
    // The code depends on where the value came from: only the client can fix its arguments.
    throw new AccountError(REFUSED_VALUE[takes], { cause: thrown });
  }
}

export function filledHeaders(
  headers: readonly HeaderTemplate[],
  variables: VariableValues,
): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(([name, template]) => [name, fillHeader(template, variables)]));
}
