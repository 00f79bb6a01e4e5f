import { fillTrick, TRICKS } from '../../support/path-tricks.ts';
import { AS_MEMBER, type Attempt, product, refused, request, seeded } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

const COLUMNS = [
  { lane: 'protected without a token', place: '/member', open: '/public', column: 2, fields: '' },
  { lane: 'protected with a token', place: '/member', open: '/public', column: 3, fields: AS_MEMBER },
  { lane: 'site', place: '/pages', open: '/pages', column: 4, fields: '' },
] as const;
const METHODS = ['GET', 'POST', 'HEAD', 'DELETE', 'PROPFIND'];

/** Targets that two servers read differently, with every method on every lane. */
export const pathTricks: Family<ProxyStand> = {
  name: 'path tricks',
  attempts: () =>
    product(product(TRICKS, COLUMNS), METHODS).map(
      ([[trick, { lane, place, open, column, fields }], method]): Attempt => {
        const outcome = trick[column] ?? trick[2];
        // Nothing listens there, and the gate must never connect to it.
        const fill = (text: string) => fillTrick(text, { place, open, host: '{HOST}', canary: '127.0.0.1:9' });
        return {
          name: `${trick[0]}: ${method} ${trick[1].slice(0, 60)}, ${lane}`,
          bytes: request(method, fill(trick[1]), fields),
          expected:
            typeof outcome === 'number'
              ? refused(outcome)
              : { statuses: [200], upstream: [`${method} ${fill(outcome)}`] },
        };
      },
    ),
};

const SEPARATORS = ['/', '%2f', '%2F', '\\', '%5c', '%5C', '%252f', '%255c', ';/', '/;', '//', '%00/', '%ef%bc%8f'];
const DOTS = [
  '..',
  '%2e%2e',
  '%2E%2E',
  '.%2e',
  '%2e.',
  '%252e%252e',
  '..;',
  '..%00',
  '.',
  '%2e',
  '%c0%ae%c0%ae',
  '..%20',
];
const FROM = ['/public', '/public/a/b', '/pages', ''];
const TO = ['member/x', 'reading/x', 'api/oauth/token', 'oauth/authorize'];

/** Dots and separators in every encoding, from each public path to each protected one. */
export const traversal: Family<ProxyStand> = {
  name: 'traversal',
  attempts: () =>
    product(product(SEPARATORS, DOTS), product(FROM, TO)).flatMap(([[separator, dots], [from, to]]): Attempt[] => {
      const target = `${from}/${dots}${separator}${to}`;
      return [
        { name: `${target}, without a token`, bytes: request('GET', target), expected: refused(400) },
        ...(from === '/public'
          ? [{ name: `${target}, with a token`, bytes: request('GET', target, AS_MEMBER), expected: refused(400) }]
          : []),
      ];
    }),
};

const encoded = (word: string, at: number, how: (hex: string) => string) =>
  word.slice(0, at) + how(word.charCodeAt(at).toString(16)) + word.slice(at + 1);

/** Letters of a protected path, encoded once (read as the letter), twice and broken (refused). */
export const encodedLetters: Family<ProxyStand> = {
  name: 'encoded letters',
  attempts: () =>
    ['member', 'reading'].flatMap((word) =>
      [...word].flatMap((_, at): Attempt[] => {
        const once = `/${encoded(word, at, (hex) => `%${hex}`)}/x`;
        const refusals = [
          encoded(word, at, (hex) => `%25${hex}`),
          encoded(word, at, (hex) => `%${hex[0]}z`),
          encoded(word, at, (hex) => `%u00${hex}`),
          encoded(word, at, (hex) => `%25${[...hex].map((digit) => `%${digit.charCodeAt(0).toString(16)}`).join('')}`),
        ];
        return [
          { name: `${once} without a token`, bytes: request('GET', once), expected: refused(401) },
          {
            name: `${once} with a token`,
            bytes: request('GET', once, AS_MEMBER),
            expected: { statuses: [200], upstream: [`GET /${word}/x`], has: /record-of-m-1$/ },
          },
          ...refusals.map((one) => ({
            name: `/${one}/x`,
            bytes: request('GET', `/${one}/x`, AS_MEMBER),
            expected: refused(400),
          })),
        ];
      }),
    ),
};

const PIECES = [
  ...['/', '.', '..', '%2e', '%2f', '%5c', '\\', ';', '%3b', '%25', '%', '%00', '%0a', '?', '%20', '@', ':', '~', "'"],
  ...['public', 'member', 'MEMBER', '%6dember', 'reading', 'a', '%C3%A9', '%c0%ae', '%EF%BC%8F', '%EF%BD%8D', '%C5%BF'],
];

/**
 * Seeded random combinations of all of these, without a token. The expected status is not given for each: the rule is that
 * no target that could be read as a protected one reaches the upstream. The stand checks this.
 */
export const mixedPaths: Family<ProxyStand> = {
  name: 'mixed paths without a token',
  attempts: () => {
    const random = seeded(14);
    return Array.from({ length: 600 }, (_, number): Attempt => {
      const pieces = Array.from(
        { length: 1 + Math.floor(random() * 6) },
        () => PIECES[Math.floor(random() * PIECES.length)],
      );
      const target = `/member/..${pieces.join('')}`;
      return { name: `number ${number}, ${target}`, bytes: request('GET', target), expected: refused([400, 401, 404]) };
    });
  },
};
