import { isTimeZone } from '../../config/time-zone.ts';
import { DATE_FORMATS } from './date-time.ts';

/** What an argument of a method can be. */
interface ArgumentKind {
  /** In words, for messages. */
  readonly needs: string;
  readonly fits: (value: unknown) => boolean;
  /** `literal`: it must be written out in the mapping. `item`: an expression that the method evaluates itself. */
  readonly is?: 'literal' | 'item' | 'pair';
  /** Whether the method is called with null. Otherwise, its result is then null. */
  readonly ofNull?: true;
}

const MOST_DIGITS = 20;

export type Kind = keyof typeof KINDS;

const KINDS = {
  any: { needs: 'a value', fits: () => true, ofNull: true },
  boolean: { needs: 'a boolean', fits: (value) => typeof value === 'boolean', ofNull: true },
  number: { needs: 'a number', fits: (value) => typeof value === 'number' },
  'number or text': { needs: 'a number or a string', fits: isComparable },
  string: { needs: 'a string', fits: (value) => typeof value === 'string' },
  list: { needs: 'a list in [ ]', fits: Array.isArray },
  count: {
    needs: `a whole number from 0 to ${MOST_DIGITS}`,
    fits: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_DIGITS,
    is: 'literal',
  },
  format: oneOf(DATE_FORMATS),
  encoding: oneOf(['html']),
  zone: {
    needs: 'an IANA time zone such as "Europe/Madrid"',
    fits: (value) => typeof value === 'string' && isTimeZone(value),
    is: 'literal',
  },
  expression: { needs: 'an expression that begins with @', fits: () => true, is: 'item' },
  pair: { needs: 'pairs such as ["a", "b"]', fits: () => true, is: 'pair' },
} satisfies Readonly<Record<string, ArgumentKind>>;

/** The kind of a method's argument. */
export function kindOf(kind: Kind): ArgumentKind {
  return KINDS[kind];
}

function oneOf(words: readonly string[]): ArgumentKind {
  return { needs: `one of ${words.join(', ')}`, fits: (value) => words.includes(value as string), is: 'literal' };
}

export function isComparable(value: unknown): value is number | string {
  return typeof value === 'number' || typeof value === 'string';
}
