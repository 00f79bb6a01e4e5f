import { isTree } from '../../config/tree.ts';
import { DATE_FORMATS, type DateFormat, toDateTime } from './date-time.ts';
import { parseJson } from './json.ts';
import { fromMinorUnits, toDecimal } from './money.ts';
import { type Argument, ITEM, type Literal } from './syntax.ts';

/** An upstream's value does not have the type that a mapping expects. Becomes UPSTREAM_BAD_RESPONSE. */
export class MappingValueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MappingValueError';
  }
}

type Kind = 'any' | 'number' | 'count' | 'string' | 'list' | 'pair' | 'format' | 'expression';

/** The argument of a method: a literal, or an expression as a function of the item. */
export type MethodArgument = Literal | ((item: unknown) => unknown);

interface Method {
  /** What it returns, for the reference. */
  readonly about: string;
  readonly takes: readonly Kind[];
  /** Whether the last argument is optional or can be repeated. */
  readonly last?: 'optional' | 'many';
  /** Whether it is called for null too. Other methods on null return null. */
  readonly ofNull?: true;
  /** @throws {MappingValueError} when `value` has the wrong type */
  readonly apply: (value: unknown, ...args: MethodArgument[]) => unknown;
}

type Each = (item: unknown) => unknown;

function fail(method: string, wanted: string): never {
  throw new MappingValueError(`->${method} needs ${wanted}`);
}

function method(about: string, takes: readonly Kind[], apply: Method['apply']): Method {
  return { about, takes, apply };
}

function arithmetic(name: string, about: string, compute: (left: number, right: number) => number): Method {
  return method(about, ['number'], (value, by) => compute(number(name, value), by as number));
}

function rounding(name: string, about: string, round: (value: number) => number): Method {
  return method(about, [], (value) => round(number(name, value)));
}

type Ordered = number | string;

function comparison(name: string, about: string, compare: (left: Ordered, right: Ordered) => boolean): Method {
  return method(about, ['any'], (value, to) => {
    const comparable = (typeof value === 'number' || typeof value === 'string') && typeof value === typeof to;
    return comparable ? compare(value, to as Ordered) : fail(name, 'two numbers or two strings');
  });
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
 * The supported methods. They have the names and behaviour of Apollo Connectors, except our additions floor, ceil,
 * round, isNull, decimal, minorUnits and toDateTime. `div` does not round, so an Int needs `->floor` after it.
 */
const METHODS: Readonly<Record<string, Method>> = {
  eq: method('whether the value equals this one', ['any'], (value, to) => value === to),
  ne: method('whether the value differs from this one', ['any'], (value, to) => value !== to),
  in: method('whether the value is one of these', ['list'], (value, values) => (values as unknown[]).includes(value)),
  contains: method('whether the list has this item', ['any'], (value, item) => list('contains', value).includes(item)),
  gt: comparison('gt', 'whether it is greater', (left, right) => left > right),
  gte: comparison('gte', 'whether it is greater or equal', (left, right) => left >= right),
  lt: comparison('lt', 'whether it is less', (left, right) => left < right),
  lte: comparison('lte', 'whether it is less or equal', (left, right) => left <= right),
  not: method('the opposite boolean', [], (value) => (typeof value === 'boolean' ? !value : fail('not', 'a boolean'))),
  isNull: { ...method('whether the value is null', [], (value) => value === null), ofNull: true },
  match: {
    ...method('the second item of the first pair whose first item is the value or @', ['pair'], (value, ...pairs) => {
      const found = (pairs as readonly (readonly Literal[])[]).find(([from]) => from === ITEM || from === value);
      return found === undefined ? null : found[1] === ITEM ? value : (found[1] ?? null);
    }),
    last: 'many',
  },
  add: arithmetic('add', 'the sum', (left, right) => left + right),
  sub: arithmetic('sub', 'the difference', (left, right) => left - right),
  mul: arithmetic('mul', 'the product', (left, right) => left * right),
  div: arithmetic('div', 'the quotient, not rounded', (left, right) => left / right),
  mod: arithmetic('mod', 'the remainder', (left, right) => left % right),
  floor: rounding('floor', 'rounded down to a whole number', Math.floor),
  ceil: rounding('ceil', 'rounded up to a whole number', Math.ceil),
  round: rounding('round', 'the nearest whole number', Math.round),
  decimal: method('as decimal text with this many decimal places', ['count'], (value, digits) => {
    return toDecimal(value, digits as number) ?? fail('decimal', 'a number or decimal text');
  }),
  minorUnits: method(
    'minor units (cents) as decimal text; the argument is the number of decimal places of the currency',
    ['count'],
    (value, digits) => fromMinorUnits(value, digits as number) ?? fail('minorUnits', 'a whole number'),
  ),
  toString: method('as text', [], (value) => (isScalar(value) ? String(value) : fail('toString', 'a scalar'))),
  parseInt: method('text of digits as a whole number', [], (value) => {
    const parsed = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(parsed) ? parsed : fail('parseInt', 'digits');
  }),
  first: method('the first item', [], (value) => list('first', value)[0] ?? null),
  last: method('the last item', [], (value) => list('last', value).at(-1) ?? null),
  get: method('the item at an index, from 0; negative counts from the end', ['number'], (value, index) => {
    return list('get', value).at(index as number) ?? null;
  }),
  size: method('the number of items', [], (value) => list('size', value).length),
  slice: {
    ...method('the items from one index up to, but not including, another', ['number', 'number'], (value, from, to) => {
      return list('slice', value).slice(from as number, to as number | undefined);
    }),
    last: 'optional',
  },
  map: method('the results of the expression for each item', ['expression'], (value, each) => {
    return list('map', value).map(each as Each);
  }),
  filter: method('the items for which the expression is true', ['expression'], (value, each) => {
    return list('filter', value).filter((item) => (each as Each)(item) === true);
  }),
  find: method('the first item for which the expression is true', ['expression'], (value, each) => {
    return list('find', value).find((item) => (each as Each)(item) === true) ?? null;
  }),
  entries: method("an object's properties as a list of { key, value }", [], (value) => {
    if (!isTree(value)) return fail('entries', 'an object');
    return Object.entries(value).map(([key, member]) => ({ key, value: member }));
  }),
  joinNotNull: method('the items that are not null, joined with a separator', ['string'], (value, separator) => {
    const items = list('joinNotNull', value).filter((item) => item !== null);
    return items.every(isScalar) ? items.join(separator as string) : fail('joinNotNull', 'a list of scalars');
  }),
  jsonParse: method('JSON text, parsed', [], (value) => {
    try {
      return typeof value === 'string' ? parseJson(value) : fail('jsonParse', 'JSON text');
    } catch {
      return fail('jsonParse', 'JSON text');
    }
  }),
  jsonStringify: method('as JSON text', [], (value) => JSON.stringify(value)),
  toDateTime: method(
    `a date as DateTime; the argument is its format: ${DATE_FORMATS.join(', ')}`,
    ['format'],
    (value, format) => {
      const moment = toDateTime(value, format as DateFormat);
      return moment === undefined ? fail('toDateTime', `a date in the format ${format as DateFormat}`) : moment;
    },
  ),
};

/** Finds a method by name; undefined if it is not supported. */
export function findMethod(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}

/** Every method with its arguments and result, for the reference. */
export function describeMethods(): readonly { readonly call: string; readonly about: string }[] {
  return Object.entries(METHODS).map(([name, { takes, last, about }]) => {
    const words = takes.map((kind, index) => (last === 'optional' && index === takes.length - 1 ? `[${kind}]` : kind));
    const args = last === 'many' ? [...words, '…'] : words;
    return { call: `->${name}${args.length === 0 ? '' : `(${args.join(', ')})`}`, about };
  });
}

const MOST_DIGITS = 20;
const DIGITS: readonly unknown[] = [...Array(MOST_DIGITS + 1).keys()];

/** Describes what is wrong with a method call; undefined if nothing is. */
export function checkCall(name: string, args: readonly Argument[]): string | undefined {
  const method = findMethod(name);
  if (method === undefined) return `there is no method ->${name}; available are ${Object.keys(METHODS).join(', ')}`;
  const { takes, last } = method;
  const least = last === 'optional' ? takes.length - 1 : takes.length;
  if (args.length < least || (args.length > takes.length && last !== 'many')) {
    return `->${name} takes ${last === undefined ? '' : 'at least '}${least} argument(s)`;
  }
  for (const [index, argument] of args.entries()) {
    const kind = takes[Math.min(index, takes.length - 1)];
    const wrong = kind === undefined ? undefined : checkArgument(name, kind, argument);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** What each kind of literal must be, in words and as a check. */
const LITERALS: Readonly<Partial<Record<Kind, readonly [needs: string, fits: (value: unknown) => boolean]>>> = {
  format: [`one of ${DATE_FORMATS.join(', ')}`, (value) => (DATE_FORMATS as readonly unknown[]).includes(value)],
  list: ['a list in [ ]', Array.isArray],
  pair: ['pairs such as ["a", "b"]', (value) => Array.isArray(value) && value.length === 2],
  count: [`a whole number from 0 to ${MOST_DIGITS}`, (value) => DIGITS.includes(value)],
  number: ['a number', (value) => typeof value === 'number'],
  string: ['a string', (value) => typeof value === 'string'],
};

function checkArgument(name: string, kind: Kind, argument: Argument): string | undefined {
  if (kind === 'expression') {
    return argument.kind === 'expression' ? undefined : `->${name} takes an expression that begins with @`;
  }
  if (argument.kind === 'expression') return `->${name} takes no expression`;
  const { value } = argument;
  const [needs, fits] = LITERALS[kind] ?? [];
  if (fits?.(value) === false) return `->${name} takes ${needs}`;
  return (name === 'div' || name === 'mod') && value === 0 ? `->${name} cannot divide by 0` : undefined;
}
