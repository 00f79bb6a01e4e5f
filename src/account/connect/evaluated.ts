import { AccountError } from '../errors.ts';
import { MappingValueError } from './mapping-value.ts';

/**
 * Runs part of a mapping on an upstream's data.
 *
 * @throws {AccountError} `UPSTREAM_BAD_RESPONSE` when the data has an unexpected type
 */
export function evaluated<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (thrown) {
    if (thrown instanceof MappingValueError) throw new AccountError('UPSTREAM_BAD_RESPONSE', { cause: thrown });
    throw thrown;
  }
}
