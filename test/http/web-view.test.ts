import { expect, it } from 'vitest';
import { isWebView } from '../../src/http/web-view.ts';

const ANDROID = 'Mozilla/5.0 (Linux; Android 14; Pixel 8';
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

it.each([
  [`${ANDROID}; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36`, true],
  [`${ANDROID}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36`, false],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) ${WEBKIT} Mobile/15E148`, true],
  [`Mozilla/5.0 (iPad; CPU OS 17_1 like Mac OS X) ${WEBKIT} Mobile/15E148 [FBAN/FBIOS;FBAV/440.0]`, true],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) ${WEBKIT} Version/17.1 Mobile/15E148 Safari/604.1`, false],
  [`${ANDROID}) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36 Instagram 300.0.0.0`, true],
  [`${ANDROID}) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36 Line/13.0`, true],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0', false],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.1 Safari/605.1.15', false],
  ['', false],
  ['node', false],
  ['Inline/1.0', false],
])('%s is detected as an in-app browser: %s', (userAgent, embedded) => {
  expect(isWebView(userAgent)).toBe(embedded);
});
