import { describe, expect, it } from 'vitest';
import { browserCommand, type Desktop } from '../../../src/tools/connect/open-browser.ts';

const URL_ = 'https://school.example/oauth/authorize?a=1&b=$(touch%20x)';
const linux = (env: Desktop['env'], here = true): Desktop => ({ platform: 'linux', env, runnable: () => here });

describe('browserCommand', () => {
  it('uses the opener of the platform, with the URL as one argument', () => {
    expect(browserCommand(URL_, linux({ DISPLAY: ':0', PATH: '/bin' }))).toEqual(['/bin/xdg-open', URL_]);
    expect(browserCommand(URL_, linux({ WAYLAND_DISPLAY: 'w', PATH: '/bin' }))?.[0]).toBe('/bin/xdg-open');
    expect(browserCommand(URL_, { ...linux({ PATH: '/usr/bin' }), platform: 'darwin' })).toEqual([
      '/usr/bin/open',
      URL_,
    ]);
    expect(browserCommand(URL_, { ...linux({}), platform: 'win32' })?.at(-1)).toBe(URL_);
  });

  it('does nothing without a display or an opener, and for what is no web address', () => {
    expect(browserCommand(URL_, linux({ PATH: '/bin' }))).toBeUndefined();
    expect(browserCommand(URL_, linux({ DISPLAY: ':0', PATH: '/bin' }, false))).toBeUndefined();
    expect(browserCommand('file:///etc/passwd', linux({ DISPLAY: ':0', PATH: '/bin' }))).toBeUndefined();
  });
});
