import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config/load.ts';

const FILE = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));

const load = (environment: Record<string, string> = {}, clients: Record<string, unknown> = {}) =>
  loadConfig({ file: FILE, environment, overrides: { clients } });

async function problems(environment: Record<string, string>, clients: Record<string, unknown> = {}): Promise<string[]> {
  try {
    await load(environment, clients);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return thrown.problems.map(({ path, message }) => `${path} ${message}`);
  }
}

describe('clients in the configuration', () => {
  it('have defaults that allow real apps', async () => {
    const { config, initialAccessToken } = await load();
    expect(config.clients.registration).toEqual({
      enabled: true,
      perAddressPerMinute: 120,
      perDay: 100_000,
      unusedLifetime: 86_400,
    });
    expect(config.clients.redirects).toMatchObject({ allow: [], deny: [] });
    expect(config.clients.redirects.schemes).toEqual(expect.arrayContaining(['cursor', 'vscode', 'windsurf', 'zed']));
    expect(initialAccessToken).toBeUndefined();
  });

  it('may have an initial access token, which is not kept in the printable configuration', async () => {
    const token = 'a-token-of-the-school-0123';
    const { config, initialAccessToken } = await load({
      COURSEGATE__CLIENTS__REGISTRATION__INITIAL_ACCESS_TOKEN__ENV: 'SCHOOL_TOKEN',
      SCHOOL_TOKEN: token,
    });
    expect(initialAccessToken).toBe(token);
    expect(JSON.stringify(config)).not.toContain(token);
  });

  it.each<[string, string | undefined, RegExp]>([
    ['is not set', undefined, /^clients\.registration\.initialAccessToken .*SCHOOL_TOKEN is not set/],
    ['is short', 'short', /^clients\.registration\.initialAccessToken .*SCHOOL_TOKEN must have at least 16/],
    [
      'contains a space',
      'a token of the school',
      /^clients\.registration\.initialAccessToken .*SCHOOL_TOKEN must have at least 16/,
    ],
  ])('are refused with an initial access token that %s', async (_name, value, message) => {
    const environment = {
      COURSEGATE__CLIENTS__REGISTRATION__INITIAL_ACCESS_TOKEN__ENV: 'SCHOOL_TOKEN',
      ...(value === undefined ? {} : { SCHOOL_TOKEN: value }),
    };
    const found = await problems(environment);
    expect(found).toEqual([expect.stringMatching(message)]);
    if (value !== undefined) expect(found.join()).not.toContain(value);
  });

  it.each(['javascript', 'file', 'ms-settings', 'https', 'Cursor', 'cursor:', 'com.example'])(
    'are refused with the scheme %s',
    async (scheme) => {
      expect(await problems({}, { redirects: { schemes: [scheme] } })).toEqual([
        expect.stringMatching(/^clients\.redirects\.schemes\[0\] must /),
      ]);
    },
  );

  it.each(['https://app.example', 'app.example/x', 'App.example', '*', '*.*.example'])(
    'are refused with the domain %s',
    async (domain) => {
      expect(await problems({}, { redirects: { deny: [domain] } })).toHaveLength(1);
      expect(await problems({}, { redirects: { allow: [domain] } })).toHaveLength(1);
    },
  );
});
