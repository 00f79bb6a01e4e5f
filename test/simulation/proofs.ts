import { createHash, generateKeyPairSync, sign } from 'node:crypto';

/** Who signs: the app with the key that its tokens are bound to, or a thief with one of its own. */
type Signer = 'app' | 'thief';

const keys = { app: newKey(), thief: newKey() };

/**
 * DPoP proofs (RFC 9449 section 4.2), each with an id of its own.
 * @param clock - milliseconds since the epoch
 */
export function createProofs(clock: () => number) {
  let count = 0;
  /** @param token - the access token that is shown with it */
  return (signer: Signer, url: string, method: 'GET' | 'POST', token?: string): string => {
    count += 1;
    const { jwk, privateKey } = keys[signer];
    const payload = {
      jti: `${signer} ${count}`,
      htm: method,
      htu: url,
      iat: Math.floor(clock() / 1000),
      ...(token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }),
    };
    const text = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encoded(payload)}`;
    const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${text}.${signature.toString('base64url')}`;
  };
}

function newKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { jwk: publicKey.export({ format: 'jwk' }), privateKey };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
