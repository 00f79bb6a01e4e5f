import { DATE_FORMATS, type DateFormat, toDateTime } from './date-time.ts';
import type { Literal } from './syntax.ts';

/** Thrown when an upstream's value is not of the kind a mapping says; becomes UPSTREAM_BAD_RESPONSE. */
export class MappingValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MappingValueError';
  }
}

type Kind = 'any' | 'number' | 'string' | 'format';

interface Method {
  /** The literals it takes, all of them required. */
  readonly takes: readonly Kind[];
  /** Never called with null: every method of null is null. Throws MappingValueError. */
  readonly apply: (value: unknown, ...args: Literal[]) => unknown;
}

function fail(method: string, wanted: string): never {
  throw new MappingValueError(`->${method} needs ${wanted}`);
}

function arithmetic(name: string, compute: (left: number, right: number) => number): Method {
  return { takes: ['number'], apply: (value, by) => compute(number(name, value), by as number) };
}

function comparison(name: string, compare: (left: number | string, right: number | string) => boolean): Method {
  return {
    takes: ['any'],
    apply(value, to) {
      const comparable = (typeof value === 'number' || typeof value === 'string') && typeof value === typeof to;
      return comparable ? compare(value, to as number | string) : fail(name, 'two numbers or two strings');
    },
  };
}

function number(name: string, value: unknown): number {
  return typeof value === 'number' ? value : fail(name, 'a number');
}

function list(name: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : fail(name, 'a list');
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * The methods of the subset. All but `floor` and `toDateTime` are named and behave as in Apollo Connectors; `div` is
 * not rounded, so an Int wants `->floor` behind it.
 */
const METHODS: Readonly<Record<string, Method>> = {
  eq: { takes: ['any'], apply: (value, to) => value === to },
  ne: { takes: ['any'], apply: (value, to) => value !== to },
  gt: comparison('gt', (left, right) => left > right),
  gte: comparison('gte', (left, right) => left >= right),
  lt: comparison('lt', (left, right) => left < right),
  lte: comparison('lte', (left, right) => left <= right),
  not: { takes: [], apply: (value) => (typeof value === 'boolean' ? !value : fail('not', 'a boolean')) },
  add: arithmetic('add', (left, right) => left + right),
  sub: arithmetic('sub', (left, right) => left - right),
  mul: arithmetic('mul', (left, right) => left * right),
  div: arithmetic('div', (left, right) => left / right),
  floor: { takes: [], apply: (value) => Math.floor(number('floor', value)) },
  toString: { takes: [], apply: (value: unknown) => (isScalar(value) ? String(value) : fail('toString', 'a scalar')) },
  parseInt: {
    takes: [],
    apply(value) {
      const parsed = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
      return Number.isSafeInteger(parsed) ? parsed : fail('parseInt', 'digits');
    },
  },
  first: { takes: [], apply: (value) => list('first', value)[0] ?? null },
  last: { takes: [], apply: (value) => list('last', value).at(-1) ?? null },
  size: { takes: [], apply: (value) => list('size', value).length },
  joinNotNull: {
    takes: ['string'],
    apply(value, separator) {
      const items = list('joinNotNull', value).filter((item) => item !== null);
      return items.every(isScalar) ? items.join(separator as string) : fail('joinNotNull', 'a list of scalars');
    },
  },
  toDateTime: {
    takes: ['format'],
    apply: (value, format) => {
      const moment = toDateTime(value, format as DateFormat);
      return moment === undefined ? fail('toDateTime', `a moment written as ${format}`) : moment;
    },
  },
};

/** Finds a method. Out: undefined when the subset has none of that name. */
export function findMethod(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}

/** What is wrong with a call of a method, in words, or undefined. */
export function checkCall(name: string, args: readonly Literal[]): string | undefined {
  const method = findMethod(name);
  if (method === undefined) return `there is no method ->${name}; there are ${Object.keys(METHODS).join(', ')}`;
  if (method.takes.length !== args.length) return `->${name} takes ${method.takes.length} argument(s)`;
  for (const [index, kind] of method.takes.entries()) {
    const arg = args[index];
    if (kind === 'format' && !(DATE_FORMATS as readonly unknown[]).includes(arg)) {
      return `->${name} takes one of ${DATE_FORMATS.join(', ')}`;
    }
    if ((kind === 'number' || kind === 'string') && typeof arg !== kind) return `->${name} takes a ${kind}`;
    if (name === 'div' && arg === 0) return '->div cannot divide by 0';
  }
  return undefined;
}
