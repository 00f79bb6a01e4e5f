import { describe, expect, it } from 'vitest';
import { metadataOf, readDocument } from '../../../src/authorization-server/client-documents/document.ts';
import { DocumentFailure } from '../../../src/authorization-server/client-documents/failure.ts';

const URL_ = 'https://apps.example/client.json';
const SCOPE = 'openid courses:read';
const PLAIN = { client_id: URL_, client_name: 'App', redirect_uris: ['https://apps.example/callback'] };

function kindOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (thrown) {
    return thrown instanceof DocumentFailure ? thrown.kind : `not a DocumentFailure: ${thrown}`;
  }
}

const read = (text: string | Buffer) => readDocument(URL_, Buffer.from(text as string));

describe('readDocument', () => {
  it('returns the document as it was published', () => {
    expect(read(JSON.stringify(PLAIN))).toEqual(PLAIN);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a string', '"x"'],
    ['a byte order mark', `\ufeff${JSON.stringify(PLAIN)}`],
    ['two values', `${JSON.stringify(PLAIN)}{}`],
    ['invalid UTF-8', Buffer.concat([Buffer.from('{"client_id":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])],
    ['no client_id', JSON.stringify({ ...PLAIN, client_id: undefined })],
    ['a client_id in upper case', JSON.stringify({ ...PLAIN, client_id: 'https://apps.example/Client.json' })],
    ['a client_id with a final slash', JSON.stringify({ ...PLAIN, client_id: `${URL_}/` })],
    ['a client_id with the port', JSON.stringify({ ...PLAIN, client_id: 'https://apps.example:443/client.json' })],
    ['a client_id with a query', JSON.stringify({ ...PLAIN, client_id: `${URL_}?` })],
    ['a client_id that is a list', JSON.stringify({ ...PLAIN, client_id: [URL_] })],
    ['a secret', JSON.stringify({ ...PLAIN, client_secret: 'x' })],
    ['an empty secret', JSON.stringify({ ...PLAIN, client_secret: null })],
    ['a client_secret_expires_at', JSON.stringify({ ...PLAIN, client_secret_expires_at: 0 })],
    ['client_secret_post', JSON.stringify({ ...PLAIN, token_endpoint_auth_method: 'client_secret_post' })],
    ['client_secret_basic', JSON.stringify({ ...PLAIN, token_endpoint_auth_method: 'client_secret_basic' })],
    ['client_secret_jwt', JSON.stringify({ ...PLAIN, token_endpoint_auth_method: 'client_secret_jwt' })],
    ['__proto__', `{"__proto__":{"polluted":true},${JSON.stringify(PLAIN).slice(1)}`],
    ['a repeated member', `{"client_id":"https://evil.example/x",${JSON.stringify(PLAIN).slice(1)}`],
    ['a repeated member, once escaped', `{"client\\u005fid" : "x",${JSON.stringify(PLAIN).slice(1)}`],
  ])('refuses %s', (_what, text) => {
    expect(kindOf(() => read(text))).toBe('unusable');
  });

  it('ignores repeated names inside strings, lists and objects', () => {
    const document = {
      ...PLAIN,
      client_name: '"client_id": {[',
      software_id: 'a\\',
      x: { client_id: 1, y: [{ client_id: 2 }] },
    };
    expect(kindOf(() => read(JSON.stringify(document)))).toBeUndefined();
  });
});

describe('metadataOf', () => {
  const metadata = (members: Record<string, unknown>) =>
    metadataOf(read(JSON.stringify({ ...PLAIN, ...members })), SCOPE);

  it('reads a document like the registration of a public client', () => {
    expect(metadata({})).toEqual({
      ...PLAIN,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'RS256',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: SCOPE,
    });
  });

  it('ignores members that would be fetched, authenticate the app in another way, or are not for documents', () => {
    const others = {
      jwks_uri: 'https://10.0.0.1/jwks',
      sector_identifier_uri: 'https://10.0.0.1/sector',
      id_token_signed_response_alg: 'none',
      scope: 'everything',
      application_type: 'web',
      constructor: { prototype: { polluted: true } },
    };
    expect(metadata(others)).toEqual(metadata({}));
  });

  it.each([
    { token_endpoint_auth_method: 'none' },
    { token_endpoint_auth_method: null },
    {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    },
    {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
    },
    { token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] },
    { token_endpoint_auth_method: 'none', token_endpoint_auth_methods_supported: ['private_key_jwt'] },
  ])('uses the method none for %j', (members) => {
    expect(metadata(members)).toMatchObject({ token_endpoint_auth_method: 'none' });
    expect(metadata(members)).not.toHaveProperty('token_endpoint_auth_methods_supported');
  });

  it.each([
    { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://apps.example/jwks' },
    { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_methods_supported: ['private_key_jwt'] },
    { token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth'] },
    { token_endpoint_auth_method: { none: true } },
  ])('refuses with an explanation: %j', (members) => {
    expect(kindOf(() => metadata(members))).toBe('refused');
    expect(() => metadata(members)).toThrow(/must be none/);
  });
});
