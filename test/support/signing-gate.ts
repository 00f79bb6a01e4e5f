import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** Claims that override those of a valid assertion. */
export interface Claims {
  readonly sub?: string;
  readonly iss?: string;
  readonly aud?: string;
  readonly exp?: number;
  readonly key?: CryptoKey;
}

/** What a backend sees of a gate: keys at a URL, and identity headers signed with them. */
interface SigningGate {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** How often the keys were requested. */
  fetches(): number;
  assertion(claims?: Claims): Promise<string>;
  /** The identity headers of a member for one backend. */
  as(sub: string, aud?: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** @param now the time of its assertions, in milliseconds */
export async function startSigningGate(now: number): Promise<SigningGate> {
  const issuer = 'http://gate.example';
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  let fetches = 0;
  const keys = createServer((_request, response) => {
    fetches += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));

  const assertion = ({
    sub = 'm-1001',
    iss = issuer,
    aud = 'school',
    exp = now / 1000 + 60,
    key = privateKey,
  }: Claims = {}) =>
    new SignJWT({ email: 'student@example.com', scope: 'orders:read', client_id: 'app-1' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .setIssuer(iss)
      .setAudience(aud)
      .setSubject(sub)
      .setExpirationTime(exp)
      .sign(key);

  return {
    issuer,
    jwksUrl: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`,
    fetches: () => fetches,
    assertion,
    as: async (sub, aud = 'school') => ({
      'x-member-id': sub,
      'x-coursegate-assertion': await assertion({ sub, aud }),
    }),
    close: () =>
      new Promise((resolve) => {
        keys.close(() => resolve());
        keys.closeAllConnections();
      }),
  };
}
