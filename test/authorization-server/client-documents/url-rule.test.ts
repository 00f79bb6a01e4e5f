import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { urlProblem } from '../../../src/authorization-server/client-documents/url-rule.ts';

const RULE = { ownHost: 'school.example', allow: [], deny: [] };

describe('urlProblem', () => {
  it.each([
    'https://claude.ai/oauth/mcp-oauth-client-metadata',
    'https://chatgpt.com/oauth/codex/a1b2c3/client.json',
    'https://xn--bcher-kva.example/client.json',
    'https://app.example/a/b%20c/client.json',
    'https://app.example/client/',
    'https://app.example/..client/...',
    'https://eu.app.example/client.json',
    `https://app.example/${'a'.repeat(1004)}`,
  ])('accepts %s', (url) => {
    expect(urlProblem(url, RULE)).toBeUndefined();
  });

  it.each([
    ['plain http', 'http://app.example/client.json'],
    ['another scheme', 'ftp://app.example/client.json'],
    ['upper-case scheme', 'HTTPS://app.example/client.json'],
    ['no path', 'https://app.example'],
    ['the root', 'https://app.example/'],
    ['an empty segment first', 'https://app.example//client.json'],
    ['another port', 'https://app.example:8443/client.json'],
    ['the default port spelled out', 'https://app.example:443/client.json'],
    ['a user name', 'https://claude.ai@app.example/client.json'],
    ['a user name and password', 'https://a:b@app.example/client.json'],
    ['an empty user name', 'https://@app.example/client.json'],
    ['a fragment', 'https://app.example/client.json#x'],
    ['an empty fragment', 'https://app.example/client.json#'],
    ['a query', 'https://app.example/client.json?x=1'],
    ['an empty query', 'https://app.example/client.json?'],
    ['a dot segment', 'https://app.example/a/../client.json'],
    ['a single dot segment', 'https://app.example/./client.json'],
    ['a dot segment in percent form', 'https://app.example/a/%2e%2e/client.json'],
    ['a dot segment half in percent form', 'https://app.example/a/.%2E/client.json'],
    ['a dot segment percent-encoded twice', 'https://app.example/a/%252e%252e/client.json'],
    ['a dot segment behind an encoded slash', 'https://app.example/a%2f..%2fclient.json'],
    ['a dot segment behind an encoded backslash', 'https://app.example/a%5c..%5cclient.json'],
    ['a backslash', 'https://app.example\\client.json'],
    ['a backslash in the path', 'https://app.example/a\\client.json'],
    ['a space', 'https://app.example/a client.json'],
    ['a space before', ' https://app.example/client.json'],
    ['a tab', 'https://app.exa\tmple/client.json'],
    ['a line break', 'https://app.example/client.json\n'],
    ['a control character', 'https://app.example/\u0007client.json'],
    ['a name outside ASCII', 'https://bücher.example/client.json'],
    ['full-width letters', 'https://ａpp.example/client.json'],
    ['an ideographic full stop', 'https://app。example/client.json'],
    ['a path outside ASCII', 'https://app.example/é.json'],
    ['upper-case letters in the host', 'https://App.example/client.json'],
    ['a final dot in the host', 'https://app.example./client.json'],
    ['an IPv4 address', 'https://8.8.8.8/client.json'],
    ['loopback', 'https://127.0.0.1/client.json'],
    ['an address with fewer parts', 'https://127.1/client.json'],
    ['a decimal address', 'https://2130706433/client.json'],
    ['a hexadecimal address', 'https://0x7f000001/client.json'],
    ['an octal address', 'https://0177.0.0.1/client.json'],
    ['an address in full-width digits', 'https://１２７.0.0.1/client.json'],
    ['an address in percent form', 'https://%31%32%37.0.0.1/client.json'],
    ['an IPv6 address', 'https://[2606:4700::1111]/client.json'],
    ['IPv6 loopback', 'https://[::1]/client.json'],
    ['a mapped address', 'https://[::ffff:127.0.0.1]/client.json'],
    ['localhost', 'https://localhost/client.json'],
    ['a name of one label', 'https://intranet/client.json'],
    ['a name under localhost', 'https://app.localhost/client.json'],
    ['a name under local', 'https://printer.local/client.json'],
    ['a name under internal', 'https://metadata.google.internal/client.json'],
    ['a name under home.arpa', 'https://nas.home.arpa/client.json'],
    ['a name under onion', 'https://app.onion/client.json'],
    ['a name under invalid', 'https://app.invalid/client.json'],
    ['a name under alt', 'https://app.alt/client.json'],
    ['ourselves', 'https://school.example/oauth/client.json'],
    ['more than 1024 characters', `https://app.example/${'a'.repeat(1005)}`],
  ])('refuses %s', (_what, url) => {
    expect(urlProblem(url, RULE)).toBeTypeOf('string');
  });

  it('accepts only listed domains once one is listed, and deny takes precedence', () => {
    const rule = { ...RULE, allow: ['claude.ai', '*.apps.example'], deny: ['bad.apps.example', '*.bad.apps.example'] };
    const taken = (host: string) => urlProblem(`https://${host}/client.json`, rule) === undefined;
    expect(taken('claude.ai')).toBe(true);
    expect(taken('one.apps.example')).toBe(true);
    expect(taken('a.one.apps.example')).toBe(true);
    for (const host of [
      'apps.example',
      'www.claude.ai',
      'notclaude.ai',
      'claude.ai.evil.example',
      'evilapps.example',
    ]) {
      expect(taken(host), host).toBe(false);
    }
    for (const host of ['bad.apps.example', 'very.bad.apps.example']) expect(taken(host), host).toBe(false);
  });

  it('refuses URLs in which another parser could see a different host', () => {
    const spelled = fc.webUrl({ validSchemes: ['https'], withQueryParameters: false });
    fc.assert(
      fc.property(
        spelled,
        fc.constantFrom('', '@evil.example', ':443', '\\@evil.example', '#@evil.example'),
        (url, more) => {
          const text = url.replace(/^(https:\/\/[^/]+)/, `$1${more}`);
          if (urlProblem(text, RULE) !== undefined) return;
          expect(/^https:\/\/([a-z0-9.-]+)\/[\x21-\x7e]+$/.exec(text)?.[1]).toBe(new URL(text).hostname);
        },
      ),
      { numRuns: 500 },
    );
  });
});
