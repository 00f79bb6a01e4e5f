import { expect, it } from 'vitest';
import { nearest } from '../../src/config/suggest.ts';

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
