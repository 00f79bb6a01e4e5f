import { describe, expect, it } from 'vitest';
import { browserCommand, type Desktop } from '../../../src/operator/connect/open-browser.ts';

const URL_ = 'https://school.example/oauth/authorize?a=1&b=$(touch%20x)';
const linux = (env: Desktop['env']): Desktop => ({ platform: 'linux', env });

describe('browserCommand', () => {
  it('uses the platform’s opener, with the URL as one argument', () => {
    expect(browserCommand(URL_, linux({ DISPLAY: ':0' }))).toEqual(['xdg-open', URL_]);
    expect(browserCommand(URL_, linux({ WAYLAND_DISPLAY: 'w' }))).toEqual(['xdg-open', URL_]);
    expect(browserCommand(URL_, { ...linux({}), platform: 'darwin' })).toEqual(['open', URL_]);
    expect(browserCommand(URL_, { ...linux({}), platform: 'win32' })).toEqual([
      'rundll32.exe',
      'url.dll,FileProtocolHandler',
      URL_,
    ]);
    expect(browserCommand('http://localhost:8080/', linux({ DISPLAY: ':0' }))?.[0]).toBe('xdg-open');
  });

  it('returns nothing without a display, or for something other than a web address', () => {
    expect(browserCommand(URL_, linux({}))).toBeUndefined();
    for (const url of ['file:///etc/passwd', 'xhttp://school.example', 'https+x://school.example', 'nonsense'])
      expect(browserCommand(url, linux({ DISPLAY: ':0' }))).toBeUndefined();
  });
});
