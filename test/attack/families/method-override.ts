import { AS_MEMBER, type Attempt, FORM_TYPE, JSON_TYPE, lines, product, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

/** Spellings of the parameter that Laravel, Rails, Symfony, Express or PHP read as the same name. */
const NAMES: readonly (readonly [string, string])[] = [
  ['plain', '_method'],
  ['an encoded underscore', '%5Fmethod'],
  ['an encoded letter', '_m%65thod'],
  ['all of it encoded', '%5F%6D%65%74%68%6F%64'],
  ['as a list', '_method[]'],
  ['as a list, encoded', '_method%5B%5D'],
  ['with a key', '_method[0]'],
  // PHP reads a space or a dot here as an underscore.
  ['a space before it', '%20_method'],
  ['a dot for the underscore', '.method'],
  ['a plus for the underscore', '+method'],
];
const METHODS = ['DELETE', 'delete', 'Put', 'PATCH', '%44ELETE'];

/** A route of the stand that allows only POST. */
const POST = '/posting/x';

const multipart = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`;
const MULTIPART_TYPE = lines('Content-Type: multipart/form-data; boundary=b');

/** Expects a 400 that names the override, and no upstream request. */
const named = { statuses: [400], has: /_method/ } as const;

export const methodOverride: Family<ProxyStand> = {
  name: '_method overrides everywhere',
  attempts: () => [
    ...product(NAMES, METHODS).flatMap(([[how, name], method]): Attempt[] => [
      {
        name: `in the query, ${how}, ${method}`,
        bytes: request('POST', `${POST}?${name}=${method}`, AS_MEMBER + FORM_TYPE, 'a=b'),
        expected: named,
      },
      {
        name: `in the query behind another, ${how}, ${method}`,
        bytes: request('POST', `${POST}?a=b&${name}=${method}`, AS_MEMBER + FORM_TYPE, 'a=b'),
        expected: named,
      },
      {
        name: `in a form, ${how}, ${method}`,
        bytes: request('POST', POST, AS_MEMBER + FORM_TYPE, `a=b&${name}=${method}`),
        expected: named,
      },
      {
        name: `in a form with a charset, ${how}, ${method}`,
        bytes: request(
          'POST',
          POST,
          AS_MEMBER + lines('Content-Type: Application/X-WWW-Form-Urlencoded; charset=UTF-8'),
          `${name}=${method}`,
        ),
        expected: named,
      },
    ]),
    ...product(['_method', '_method[]'], ['DELETE', 'put']).flatMap(([name, method]): Attempt[] => [
      {
        name: `in multipart, ${name}, ${method}`,
        bytes: request('POST', POST, AS_MEMBER + MULTIPART_TYPE, multipart(name, method)),
        expected: named,
      },
      {
        name: `in multipart behind a file, ${name}, ${method}`,
        bytes: request(
          'POST',
          POST,
          AS_MEMBER + MULTIPART_TYPE,
          `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${'x'.repeat(2_000)}\r\n${multipart(name, method)}`,
        ),
        expected: named,
      },
    ]),
    ...product(
      ['{"_method":"DELETE"}', '{"a":1,"_method":"delete"}', '{"\\u005fmethod":"PUT"}', '{"_method":["DELETE"]}'],
      ['application/json', 'application/vnd.api+json', 'Application/JSON; charset=utf-8'],
    ).map(
      ([body, type]): Attempt => ({
        name: `in JSON, ${body}, ${type}`,
        bytes: request('POST', POST, AS_MEMBER + lines(`Content-Type: ${type}`), body),
        expected: named,
      }),
    ),
    // Chunked, so that no length shows where it is.
    ...METHODS.slice(0, 3).map((method): Attempt => {
      const body = `_method=${method}`;
      return {
        name: `in a form in chunks, ${method}`,
        bytes: `${request('POST', POST, AS_MEMBER + FORM_TYPE).slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n4\r\n${body.slice(0, 4)}\r\n${(body.length - 4).toString(16)}\r\n${body.slice(4)}\r\n0\r\n\r\n`,
        expected: named,
      };
    }),
    // If the resulting method is allowed, nothing is refused. Similar names are not refused either.
    ...[
      ['POST', `${POST}?_method=POST`, FORM_TYPE, 'a=b'],
      ['POST', '/member/x?_method=DELETE', FORM_TYPE, 'a=b'],
      ['POST', POST, FORM_TYPE, 'payment_method=card'],
      ['POST', POST, JSON_TYPE, '{"payment_method":"card","a":{"_method":"DELETE"}}'],
    ].map(
      ([method = '', target = '', fields = '', body = '']): Attempt => ({
        name: `let through: ${method} ${target} ${body}`,
        bytes: request(method, target, AS_MEMBER + fields, body),
        expected: { statuses: [200], upstream: [`${method} ${target} ${body}`] },
      }),
    ),
  ],
};
