import { decodeHTMLStrict } from 'entities/decode';
import { isObject } from '../../http/json-object.ts';
import { DATE_FORMATS, type DateFormat, toDateTime } from './date-time.ts';
import { parseJson } from './json.ts';
import { isComparable, type Kind } from './kinds.ts';
import { fail, isScalar, list, number } from './mapping-value.ts';
import { fromMinorUnits, toDecimal } from './money.ts';
import { count, newWork } from './work.ts';

interface Method {
  /** What it returns, for the reference. */
  readonly about: string;
  readonly takes: readonly Kind[];
  /** Whether the last argument is optional or can be repeated. */
  readonly last?: 'optional' | 'many';
  /** Whether it is called for null too. Other methods on null return null. */
  readonly ofNull?: true;
  /**
   * Gets the values of its arguments, or functions of an item where it takes expressions or pairs.
   *
   * @throws {MappingValueError} when `value` has the wrong type
   */
  readonly apply: (value: unknown, ...args: readonly unknown[]) => unknown;
}

type Each = (item: unknown) => unknown;
type Ordered = number | string;

function method(about: string, takes: readonly Kind[], apply: Method['apply']): Method {
  return { about, takes, apply };
}

function arithmetic(name: string, about: string, compute: (left: number, right: number) => number): Method {
  return method(about, ['number'], (value, by) => {
    const result = compute(number(name, value), by as number);
    return Number.isFinite(result) ? result : fail(name, 'a divisor other than 0, and numbers that are not too large');
  });
}

function rounding(name: string, about: string, round: (value: number) => number): Method {
  return method(about, [], (value) => round(number(name, value)));
}

function comparison(name: string, about: string, compare: (left: Ordered, right: Ordered) => boolean): Method {
  return method(about, ['number or text'], (value, to) => {
    const comparable = isComparable(value) && typeof value === typeof to;
    return comparable ? compare(value, to as Ordered) : fail(name, 'two numbers or two strings');
  });
}

/** `or` and `and`: one `decisive` value is the result; without one, null if any value is null. */
function logical(name: string, about: string, decisive: boolean): Method {
  const apply: Method['apply'] = (...values) => {
    if (!values.every((value) => value === null || typeof value === 'boolean')) fail(name, 'booleans');
    return values.includes(decisive) ? decisive : values.includes(null) ? null : !decisive;
  };
  return { about, takes: ['boolean'], last: 'many', ofNull: true, apply };
}

/** The items for which the expression is not null, each with its key, which are all numbers or all strings. */
function keyed(
  name: string,
  value: unknown,
  each: unknown,
): readonly { readonly item: unknown; readonly key: Ordered }[] {
  const found = list(name, value).flatMap((item) => {
    const key = (each as Each)(item);
    if (key === null) return [];
    return isComparable(key) ? [{ item, key }] : fail(name, 'an expression that gives numbers or strings');
  });
  const [first] = found;
  return found.every(({ key }) => typeof key === typeof first?.key) ? found : fail(name, 'all numbers or all strings');
}

function extreme(name: string, about: string, isBetter: (key: Ordered, than: Ordered) => boolean): Method {
  return method(about, ['expression'], (value, each) => {
    const all = keyed(name, value, each);
    return (
      all.reduce((best, one) => (isBetter(one.key, best.key) ? one : best), all[0] as (typeof all)[number])?.item ??
      null
    );
  });
}

function sorted(value: unknown, each: unknown): readonly unknown[] {
  const found = keyed('sortBy', value, each).toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return found.map(({ item }) => item);
}

/** Counted before it is built, because one long list can be in a list many times. */
function flattened(value: unknown): readonly unknown[] {
  const work = newWork();
  return list('flatten', value).flatMap((item) => {
    if (item === null) return [];
    count(item, work);
    return list('flatten', item);
  });
}

/** Text is cut between characters, never within a surrogate pair. */
function sliced(value: unknown, from: unknown, to: unknown): unknown {
  const range = [from, to] as [number, number | undefined];
  if (typeof value !== 'string') return list('slice', value).slice(...range);
  return Array.from(value)
    .slice(...range)
    .join('');
}

/**
 * The supported methods. They have the names and behaviour of Apollo Connectors, except our additions floor, ceil,
 * round, isNull, decimal, minorUnits, toDateTime, flatten, sortBy, maxBy, minBy, and the encoding html of decode. `div` does not
 * round, so an Int needs `->floor` after it. `and` and `or` count null as unknown, where Apollo gives no value.
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
  and: logical('and', 'whether all are true; null if none is false and one is null', false),
  or: logical('or', 'whether one is true; null if none is true and one is null', true),
  isNull: { ...method('whether the value is null', [], (value) => value === null), ofNull: true },
  match: {
    ...method('the second item of the first pair whose first item is the value or @', ['pair'], (value, ...pairs) => {
      for (let at = 0; at < pairs.length; at += 2) {
        if ((pairs[at] as Each)(value) === value) return (pairs[at + 1] as Each)(value);
      }
      return null;
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
  decode: method('text with its HTML entities decoded, once; tags stay', ['encoding'], (value) => {
    return typeof value === 'string' ? decodeHTMLStrict(value) : fail('decode', 'text');
  }),
  split: method('the parts of a text between separators', ['string'], (value, separator) => {
    return typeof value === 'string' ? value.split(separator as string) : fail('split', 'text');
  }),
  first: method('the first item', [], (value) => list('first', value)[0] ?? null),
  last: method('the last item', [], (value) => list('last', value).at(-1) ?? null),
  get: method('the item at an index, from 0; negative counts from the end', ['number'], (value, index) => {
    return list('get', value).at(index as number) ?? null;
  }),
  size: method('the number of items', [], (value) => list('size', value).length),
  slice: {
    ...method(
      'the items of a list, or the characters of a text, from one index up to, but not including, another',
      ['number', 'number'],
      sliced,
    ),
    last: 'optional',
  },
  map: method('the results of the expression for each item', ['expression'], (value, each) => {
    return list('map', value).map((item) => (each as Each)(item));
  }),
  filter: method('the items for which the expression is true', ['expression'], (value, each) => {
    return list('filter', value).filter((item) => (each as Each)(item) === true);
  }),
  find: method('the first item for which the expression is true', ['expression'], (value, each) => {
    return list('find', value).find((item) => (each as Each)(item) === true) ?? null;
  }),
  flatten: method('the items of the lists in a list, one level deep; a null counts as an empty list', [], flattened),
  sortBy: method(
    'the items in ascending order of the expression, without those where it is null',
    ['expression'],
    sorted,
  ),
  maxBy: extreme('maxBy', 'the item with the greatest value of the expression', (key, than) => key > than),
  minBy: extreme('minBy', 'the item with the least value of the expression', (key, than) => key < than),
  entries: method("an object's properties as a list of { key, value }", [], (value) => {
    if (!isObject(value)) return fail('entries', 'an object');
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
  toDateTime: {
    ...method(
      `a date as DateTime; the first argument is its format: ${DATE_FORMATS.join(', ')}; the second is the time zone of local times, instead of \`timeZone\` of the configuration`,
      ['format', 'zone'],
      (value, format, zone) => {
        const moment = toDateTime(value, format as DateFormat, zone as string);
        return moment === undefined ? fail('toDateTime', `a date in the format ${format as DateFormat}`) : moment;
      },
    ),
    last: 'optional',
  },
};

/** Finds a method by name; undefined if it is not supported. */
export function findMethod(name: string): Method | undefined {
  return Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
}

/** Whether '@' in the arguments of a method is an item, or the value it is applied to. */
export function bindsItem(name: string): boolean {
  return findMethod(name)?.takes.some((kind) => kind === 'expression' || kind === 'pair') === true;
}

/** The names of all methods. */
export function methodNames(): readonly string[] {
  return Object.keys(METHODS);
}

/** Every method with its arguments and result, for the reference. */
export function describeMethods(): readonly { readonly call: string; readonly about: string }[] {
  return Object.entries(METHODS).map(([name, { takes, last, about }]) => {
    const words = takes.map((kind, index) => (last === 'optional' && index === takes.length - 1 ? `[${kind}]` : kind));
    const args = last === 'many' ? [...words, '…'] : words;
    return { call: `->${name}${args.length === 0 ? '' : `(${args.join(', ')})`}`, about };
  });
}
