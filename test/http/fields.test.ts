import { describe, expect, it } from 'vitest';
import { readCursor, writeCursor } from '../../src/http/cursor.ts';
import { queryOf, readFields, readParams } from '../../src/http/fields.ts';

const of = (encoded: string, bounds = {}) => ({ ...readFields(encoded, { longest: 5, ...bounds }) });

describe('the fields of a query or a form', () => {
  it('are decoded once', () => {
    expect(of('a=1+2&b=%2541&__proto__=x')).toEqual(
      Object.fromEntries([
        ['a', '1 2'],
        ['b', '%41'],
        ['__proto__', 'x'],
      ]),
    );
    expect([queryOf('/a?b=1?2'), queryOf('/a'), queryOf()]).toEqual(['b=1?2', '', '']);
  });

  it('may be as long, and as many, as they may be', () => {
    expect(of(`${'n'.repeat(200)}=12345`)).toEqual({ ['n'.repeat(200)]: '12345' });
    expect(Object.keys(of(Array.from({ length: 500 }, (_, at) => `p${at}=`).join('&')))).toHaveLength(500);
    expect(readParams({ id: 'x'.repeat(2048) })).toEqual({ id: 'x'.repeat(2048) });
  });

  it.each([
    ['a=1&a=2', {}, 'The parameter "a" must not be repeated.'],
    ['a=123456', {}, 'The parameter "a" is too long or contains control characters.'],
    ['a=1%0A2', {}, 'The parameter "a" is too long or contains control characters.'],
    ['a=1%002', {}, 'The parameter "a" is too long or contains control characters.'],
    ['b=1', { known: ['a'] }, 'Unknown parameter "b".'],
    [`${'n'.repeat(201)}=1`, {}, 'too many parameters'],
    [Array.from({ length: 501 }, (_, at) => `p${at}=`).join('&'), {}, 'too many parameters'],
  ])('%.20s with %j are refused', (encoded, bounds, message) => {
    expect(() => of(encoded, bounds)).toThrow(message);
  });
});

it('the parameters of a path are bounded', () => {
  expect(readParams({ id: 'https://app.example/?a' })).toEqual({ id: 'https://app.example/?a' });
  for (const id of ['x'.repeat(2049), 'a\0b']) expect(() => readParams({ id })).toThrow('The id in the path');
});

describe('a cursor', () => {
  it('is read as it was written', () => {
    expect(readCursor(writeCursor(['after', 'Zoë', 7]), 100)).toEqual(['after', 'Zoë', 7]);
  });

  it.each(['', '%%%', Buffer.from('{"a":').toString('base64url'), 'A'.repeat(101)])('%.10s is none', (text) => {
    expect(readCursor(text, 100)).toBeUndefined();
  });

  it('of an attacker is not parsed beyond bounds', () => {
    const deep = Buffer.from('['.repeat(70) + ']'.repeat(70)).toString('base64url');
    expect(readCursor(deep, 1000)).toBeUndefined();
  });
});
