import { authorizationRequest } from '../../support/app.ts';
import { type Attempt, form, lines, product, refused, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

/** Changes that break an otherwise valid link of an app. */
const BROKEN: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
  ['an unknown scope', { scope: 'admin' }],
  ['a scope with a quote', { scope: 'openid "' }],
  ['the implicit flow', { response_type: 'token' }],
  ['no response type', { response_type: undefined }],
  ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
  ['the plain method', { code_challenge_method: 'plain' }],
  ['a foreign resource', { resource: 'https://evil.test' }],
  ['prompt=none', { prompt: 'none' }],
  ['a negative max_age', { max_age: '-1' }],
  ['a request object', { request: 'e30.e30.' }],
  ['a registration', { registration: '{}' }],
  ['an unknown response mode', { response_mode: 'web_message' }],
];

/** Browsers without an approval of the app. */
const BROWSERS: readonly (readonly [string, string])[] = [
  ['without a cookie', ''],
  ['with a cookie that is none of ours', lines('Cookie: __Host-coursegate=x; coursegate=x; school_session=x')],
  ['that says it comes from the school', lines('Referer: {ORIGIN}/', 'Sec-Fetch-Site: same-origin')],
];

/**
 * Two members have approved the app, each in their own browser. In any other browser, its broken links show a page and do
 * not redirect. Otherwise an attacker could turn the school into an open redirector by approving their own app.
 */
export const errorRedirect: Family<SchoolStand> = {
  name: 'invalid requests of an approved app',
  async attempts({ app }) {
    const base = Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams);
    return product(product(BROKEN, BROWSERS), [undefined, 'query', 'fragment', 'form_post']).map(
      ([[[what, fields], [browser, cookies]], mode]): Attempt => ({
        name: `${what}, in a browser ${browser}, response_mode ${mode}`,
        bytes: request(
          'GET',
          `/oauth/authorize?${form({ ...base, ...(mode === undefined ? {} : { response_mode: mode }), ...fields })}`,
          cookies + lines('Accept: text/html'),
        ),
        expected: {
          ...refused(400),
          // The gate asks the school who is signed in only if there is a school cookie and an error to redirect.
          ...(cookies.includes('school_session') ? { upstream: ['maybe'] } : {}),
          lacks: /\r\nlocation:|(?:href|action|url)="?https:\/\/app\.example/i,
        },
      }),
    );
  },
};
