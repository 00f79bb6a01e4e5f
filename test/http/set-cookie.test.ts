import { expect, it } from 'vitest';
import { deletesCookie, readSetCookie } from '../../src/http/set-cookie.ts';
import { leastCost } from '../support/pace.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

it.each([
  ['sid=one', 'sid', 'one'],
  [' sid = one two ; Path=/', 'sid', 'one two'],
  ['sid=a=b; Secure', 'sid', 'a=b'],
  ['sid=; Path=/', 'sid', ''],
  ['sid="q"', 'sid', '"q"'],
])('reads the name and the value of %s', (field, name, value) => {
  expect(readSetCookie(field)).toMatchObject({ name, value });
});

it.each(['', 'sid', '=value', '  =value; Path=/', 'Secure; a=b'])('finds no cookie in "%s"', (field) => {
  expect(readSetCookie(field)).toBeUndefined();
});

it('reads attributes without regard to case, and the last of those with the same name', () => {
  const attributes = readSetCookie('a=1; PATH=/one ;path = /two; HttpOnly')?.attributes;
  expect([...(attributes ?? [])]).toEqual([
    ['path', '/two'],
    ['httponly', ''],
  ]);
});

it.each([
  ['a=1; Max-Age=0', true],
  ['a=1; max-age=-1; Expires=Fri, 01 Jan 2027 00:00:00 GMT', true],
  ['a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT', false],
  ['a=1; Max-Age=soon; Expires=Thu, 01 Jan 1970 00:00:00 GMT', true],
  ['a=1; Expires=Fri, 01 Jan 2027 00:00:00 GMT', false],
  ['a=1; Expires=never', false],
  ['a=1', false],
])('says of %s whether it deletes the cookie: %s', (field, deletes) => {
  const cookie = readSetCookie(field);
  expect(cookie !== undefined && deletesCookie(cookie, NOW)).toBe(deletes);
});

it('reads a field with many spaces in linear time', async () => {
  const field = `a=1;${' '.repeat(200_000)}x${' '.repeat(200_000)}=y`;
  expect(await leastCost(2000, () => readSetCookie(field))).toBeLessThan(2000);
});
