import { AccountError } from '../errors.ts';
import { MappingValueError } from './methods.ts';

/** Runs a part of a mapping on data. Throws AccountError `UPSTREAM_BAD_RESPONSE` when the data is of another kind. */
export function evaluated<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (thrown) {
    if (thrown instanceof MappingValueError) throw new AccountError('UPSTREAM_BAD_RESPONSE', { cause: thrown });
    throw thrown;
  }
}
