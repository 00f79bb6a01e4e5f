import type { GraphQLField } from 'graphql';

type Arguments = Readonly<Record<string, unknown>>;

/** What an explicit null means for a window, as in our own connections. */
const DEFAULT_ITEMS = 20;

/** A field's arguments with its window said: an upstream left to choose might give the whole list. */
export function windowed(field: GraphQLField<unknown, unknown>, given: Arguments, largestWindow: number): Arguments {
  const takesFirst = field.args.some(({ name, type }) => name === 'first' && String(type) === 'Int');
  return takesFirst ? { ...given, first: given.first ?? Math.min(DEFAULT_ITEMS, largestWindow) } : given;
}

/** Whether a window is larger than the API gives. */
export function isOutsideWindow({ first }: Arguments, largestWindow: number): boolean {
  return typeof first === 'number' && (first < 0 || first > largestWindow);
}
