import { expect, it } from 'vitest';
import { shapeAt } from '../../src/config/shape.ts';
import { nearest } from '../../src/config/suggest.ts';

it('only keys of the chosen kind are known, also further down', () => {
  const keys = (kind: string) => shapeAt(['login', 'jwt'], { login: { kind, jwt: {} } }).keys;
  expect(
    [keys('header'), keys('jwt-cookie')].map((known) => [known.includes('header'), known.includes('cookie')]),
  ).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(keys('unknown')).toEqual(expect.arrayContaining(['header', 'cookie']));
});

const KEYS = ['host', 'port', 'admin', 'refreshAbsolute', 'courses:read', 'courses:write'];

it.each([
  ['prot', 'port'],
  ['PORT', 'port'],
  ['hots', 'host'],
  ['adm', 'admin'],
  ['refresh_absolute', 'refreshAbsolute'],
  ['course:read', 'courses:read'],
  ['courses:raed', 'courses:read'],
  ['x', undefined],
  ['colour', undefined],
  ['', undefined],
])('the closest name to %j is %j', (wrong, right) => {
  expect(nearest(wrong, KEYS)).toBe(right);
});
