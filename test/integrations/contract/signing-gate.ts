import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Fields = Readonly<Record<string, unknown>>;

/** A key of the gate, or a foreign one. */
interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/**
 * A fake gate for a backend, which can also misbehave: keys at an endpoint that can fail, assertions signed in any way,
 * and both halves of the bridge.
 */
export interface SigningGate {
  readonly origin: string;
  readonly pagesOrigin: string;
  readonly jwksUrl: string;
  readonly upstream: string;
  readonly secret: string;
  /** How often the keys were fetched. */
  fetches(): number;
  /** Makes the key endpoint fail or work. */
  ill(ill: boolean): void;
  /** Replaces the gate's key with a new one, with a new kid. */
  rotate(): void;
  /** The compact form of a JWT, with changes to a valid one; a member set to undefined is omitted. */
  assertion(claims?: Fields, header?: Fields, signWith?: (signed: Buffer, key: Key) => Buffer): string;
  readonly key: Key;
  close(): Promise<void>;
}

export function makeKey(kid: string): Key {
  return { kid, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

export function es256(signed: Buffer, { privateKey }: Key): Buffer {
  return sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' });
}

export const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startKeys(sub: string): Promise<SigningGate> {
  const origin = 'https://gate.example';
  const upstream = 'school';
  let key = makeKey('k1');
  let rotations = 1;
  let fetches = 0;
  let isIll = false;
  const server = createServer((_request, response) => {
    fetches += 1;
    if (isIll) return response.writeHead(500).end('ill');
    const jwk = (of: KeyObject) => of.export({ format: 'jwk' });
    const keys = [
      // Keys that sign no assertion: that of ID tokens, and others that a key set may contain.
      { ...jwk(RSA.publicKey), kid: 'rsa', alg: 'RS256', use: 'sig' },
      { ...jwk(key.publicKey), kid: key.kid, alg: 'ES256', use: 'sig' },
      { ...jwk(ENCRYPTION.publicKey), kid: ENCRYPTION.kid, use: 'enc' },
      { kty: 'oct', kid: 'oct', k: Buffer.from('published').toString('base64url') },
      { kty: 'EC', crv: 'P-384', kid: 'other-curve', ...jwk(P384.publicKey) },
    ];
    return response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin,
    pagesOrigin: 'https://login.gate.example',
    upstream,
    secret: createHash('sha256').update('between gate and school').digest('hex'),
    jwksUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/.well-known/jwks.json`,
    fetches: () => fetches,
    ill: (ill) => {
      isIll = ill;
    },
    rotate() {
      rotations += 1;
      key = makeKey(`k${rotations}`);
    },
    get key() {
      return key;
    },
    assertion(claims = {}, header = {}, signWith = es256) {
      const now = Math.floor(Date.now() / 1000);
      const body = {
        iss: origin,
        aud: upstream,
        sub,
        email: 'sam@example.com',
        scope: 'courses:read orders:read',
        client_id: 'app-1',
        grant_id: 'grant-1',
        iat: now,
        exp: now + 60,
        ...claims,
      };
      const signed = `${base64url({ alg: 'ES256', kid: key.kid, typ: 'JWT', ...header })}.${base64url(body)}`;
      return `${signed}.${signWith(Buffer.from(signed), key).toString('base64url')}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const P384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
export const ENCRYPTION = makeKey('enc');

/** The gate's half of the bridge: `sso` is base64 of a query, `sig` the HMAC-SHA256 of that base64 text, in hex. */
export function bridgeQuery(secret: string, fields: Readonly<Record<string, string>>): { sso: string; sig: string } {
  const sso = Buffer.from(new URLSearchParams(fields).toString()).toString('base64');
  return { sso, sig: bridgeSignature(secret, sso) };
}

export function bridgeSignature(secret: string, sso: string): string {
  return createHmac('sha256', secret).update(sso).digest('hex');
}
