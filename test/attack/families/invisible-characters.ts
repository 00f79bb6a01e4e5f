import { AS_MEMBER, type Attempt, product, refused, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

/** Invisible characters: a backend that removes them reads another path than the one that was checked. */
const INVISIBLE: readonly (readonly [string, string])[] = [
  ['U+00AD', '%C2%AD'],
  ['U+200B', '%E2%80%8B'],
  ['U+200C', '%E2%80%8C'],
  ['U+200D', '%E2%80%8D'],
  ['U+200E', '%E2%80%8E'],
  ['U+2060', '%E2%81%A0'],
  ['U+202E', '%E2%80%AE'],
  ['U+2066', '%E2%81%A6'],
  ['U+180E', '%E1%A0%8E'],
  ['U+FE0F', '%EF%B8%8F'],
  ['U+FEFF', '%EF%BB%BF'],
  ['U+E0020', '%F3%A0%80%A0'],
];
const PLACES: readonly (readonly [string, (character: string) => string])[] = [
  ['alone', (character) => `/member/${character}`],
  ['in an id', (character) => `/member/10${character}02`],
  ['before an id', (character) => `/member/${character}1002`],
  ['behind an id', (character) => `/member/1002${character}`],
  ['in the middle of a path', (character) => `/member/a${character}b/c`],
];

/** Parameters with another name for a backend that decodes twice than for the gate. */
const TWICE = [
  ...['user_id%3D1002=1', 'user_id%3d1002=1', 'user%5Fid%3D1002=1', '%75ser_id%3D1002=1', 'user_id%253D1002=1'],
  ...['x=1&user_id%3D1002=1', 'a%26user_id=1002'],
];

export const invisibleCharacters: Family<ProxyStand> = {
  name: 'invisible characters',
  attempts: () => [
    ...product(product(INVISIBLE, PLACES), ['GET', 'POST', 'DELETE']).flatMap(
      ([[[what, character], [where, place]], method]): Attempt[] =>
        [AS_MEMBER, ''].map((fields) => ({
          name: `${what} ${where}, ${method}, ${fields === '' ? 'without' : 'with'} a token`,
          bytes: request(method, place(character), fields),
          // It does not matter whether the path or the token is checked first.
          expected: refused(fields === '' ? [400, 401] : 400),
        })),
    ),
    ...product(TWICE, ['/own/x', '/own/x/y']).map(
      ([query, target]): Attempt => ({
        name: `${target}?${query}`,
        bytes: request('GET', `${target}?${query}`, AS_MEMBER),
        expected: refused(400),
      }),
    ),
  ],
};
