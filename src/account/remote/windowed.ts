import type { GraphQLField } from 'graphql';
import { AccountError } from '../errors.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Number of items for an explicit null, as in connections. */
const DEFAULT_ITEMS = 20;

/** A field's arguments with `first` always set, because the upstream's default might be the whole list. */
export function windowed(field: GraphQLField<unknown, unknown>, given: Arguments, largestWindow: number): Arguments {
  const takesFirst = field.args.some(({ name, type }) => name === 'first' && String(type) === 'Int');
  return takesFirst ? { ...given, first: given.first ?? Math.min(DEFAULT_ITEMS, largestWindow) } : given;
}

/** @throws {AccountError} when a window is larger than the API allows */
export function refuseWindow(args: Arguments, largestWindow: number): void {
  if (!isOutsideWindow(args, largestWindow)) return;
  throw new AccountError('BAD_USER_INPUT', { message: `The argument first must be from 0 to ${largestWindow}.` });
}

/** Whether a window is larger than the API allows. */
export function isOutsideWindow({ first }: Arguments, largestWindow: number): boolean {
  return typeof first === 'number' && (first < 0 || first > largestWindow);
}
