import { MappingValueError } from './mapping-value.ts';

/**
 * How much the expressions of one call may still go through: items of lists, and pieces of 16 characters of texts. A
 * response has at most 100,000 values, so only expressions that go through one list for each item of another get here.
 */
export interface Work {
  left: number;
}

const MOST_WORK = 1_000_000;

/** What each call may use. */
export function newWork(): Work {
  return { left: MOST_WORK };
}

/** Counts a value that an expression goes through. @throws {MappingValueError} when there have been too many */
export function count(value: unknown, work: Work | undefined): void {
  if (work === undefined) return;
  if (Array.isArray(value)) work.left -= value.length;
  else if (typeof value === 'string') work.left -= value.length >> 4;
  if (work.left < 0) throw new MappingValueError(`the mapping goes through more than ${MOST_WORK} items`);
}
