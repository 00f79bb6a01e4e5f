import { createHmac, createPrivateKey, sign } from 'node:crypto';
import { base64url, ENCRYPTION, es256, makeKey, RSA, type SigningGate } from './signing-gate.ts';

const STRANGER = makeKey('k1');
const now = () => Math.floor(Date.now() / 1000);

/** Returns invalid replacements for the gate's assertion. Every backend must respond to each with 401. */
type Forgery = (gate: SigningGate) => string;

const hs256 =
  (secret: (gate: SigningGate) => string | Buffer): Forgery =>
  (gate) =>
    gate.assertion({}, { alg: 'HS256' }, (signed) => createHmac('sha256', secret(gate)).update(signed).digest());

const edit = (token: string, change: (parts: string[]) => string[]) => change(token.split('.')).join('.');

export const FORGERIES: Readonly<Record<string, Forgery>> = {
  // The signature
  'alg none and no signature': (gate) =>
    edit(gate.assertion({}, { alg: 'none' }), ([head = '', body = '']) => [head, body, '']),
  'alg none and a signature': (gate) => gate.assertion({}, { alg: 'none' }),
  'alg None': (gate) => gate.assertion({}, { alg: 'None' }, () => Buffer.alloc(0)),
  'no alg': (gate) => gate.assertion({}, { alg: undefined }),
  'HS256 keyed with the public key as PEM': hs256(({ key }) => key.publicKey.export({ type: 'spki', format: 'pem' })),
  'HS256 keyed with the public key as DER': hs256(({ key }) => key.publicKey.export({ type: 'spki', format: 'der' })),
  'HS256 keyed with an empty secret': hs256(() => ''),
  'HS256 keyed with the bridge secret': hs256(({ secret }) => secret),
  'HS256 and the kid of a published secret': (gate) =>
    gate.assertion({}, { alg: 'HS256', kid: 'oct' }, (signed) =>
      createHmac('sha256', 'published').update(signed).digest(),
    ),
  'ES256 by another key with our kid': (gate) => gate.assertion({}, {}, (signed) => es256(signed, STRANGER)),
  'ES256 as DER': (gate) => gate.assertion({}, {}, (signed, { privateKey }) => sign('sha256', signed, privateKey)),
  'ES256 over SHA-384': (gate) =>
    gate.assertion({}, {}, (signed, { privateKey }) =>
      sign('sha384', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
  'a signature of zeros': (gate) => gate.assertion({}, {}, () => Buffer.alloc(64)),
  'a signature that is too short': (gate) =>
    gate.assertion({}, {}, (signed, key) => es256(signed, key).subarray(0, 63)),
  'a signature that is too long': (gate) =>
    gate.assertion({}, {}, (signed, key) => Buffer.concat([es256(signed, key), Buffer.alloc(2)])),
  'claims changed after signing': (gate) =>
    edit(gate.assertion(), ([head = '', body = '', signature = '']) => [
      head,
      base64url({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: '2' }),
      signature,
    ]),
  // The key
  'an unknown kid': (gate) => gate.assertion({}, { kid: 'unknown' }),
  'no kid': (gate) => gate.assertion({}, { kid: undefined }),
  'a kid that is not a string': (gate) => gate.assertion({}, { kid: ['k1'] }),
  'a kid that is a property of Object.prototype': (gate) => gate.assertion({}, { kid: '__proto__' }),
  'the kid of an encryption key': (gate) =>
    gate.assertion({}, { kid: ENCRYPTION.kid }, (signed) => es256(signed, ENCRYPTION)),
  'the kid of a key of another type': (gate) => gate.assertion({}, { kid: 'rsa' }),
  'RS256 by the published key for ID tokens': (gate) =>
    gate.assertion({}, { alg: 'RS256', kid: 'rsa' }, (signed) => sign('sha256', signed, RSA.privateKey)),
  'the kid of a key on another curve': (gate) => gate.assertion({}, { kid: 'other-curve' }),
  'its own key in the header': (gate) =>
    gate.assertion({}, { kid: 'mine', jwk: { ...createPrivateKeyJwk(), kid: 'mine' } }, (signed) =>
      es256(signed, STRANGER),
    ),
  'a URL of its key in the header': (gate) =>
    gate.assertion({}, { jku: 'http://127.0.0.1:9/keys', x5u: 'http://127.0.0.1:9/keys', kid: 'mine' }, (signed) =>
      es256(signed, STRANGER),
    ),
  'a critical extension': (gate) => gate.assertion({}, { crit: ['b64'], b64: true }),
  // Audience and issuer
  'the audience of another backend': (gate) => gate.assertion({ aud: 'progress' }),
  'no audience': (gate) => gate.assertion({ aud: undefined }),
  'an audience that starts with ours': (gate) => gate.assertion({ aud: 'school2' }),
  'another audience besides ours': (gate) => gate.assertion({ aud: ['school', 'progress'] }),
  'another issuer': (gate) => gate.assertion({ iss: 'https://evil.example' }),
  'the issuer with a trailing slash': (gate) => gate.assertion({ iss: `${gate.origin}/` }),
  'no issuer': (gate) => gate.assertion({ iss: undefined }),
  // Times
  'an exp in the past': (gate) => gate.assertion({ iat: now() - 120, exp: now() - 60 }),
  'no exp': (gate) => gate.assertion({ exp: undefined }),
  'an exp that is a string': (gate) => gate.assertion({ exp: String(now() + 60) }),
  'no iat': (gate) => gate.assertion({ iat: undefined }),
  'an iat in the future': (gate) => gate.assertion({ iat: now() + 300, exp: now() + 360 }),
  'an nbf in the future': (gate) => gate.assertion({ nbf: now() + 300, exp: now() + 360 }),
  // Subject
  'no member': (gate) => gate.assertion({ sub: undefined }),
  'an empty member': (gate) => gate.assertion({ sub: '' }),
  'a member that is a number': (gate) => gate.assertion({ sub: 1 }),
  'a member that is a list': (gate) => gate.assertion({ sub: ['1'] }),
  'an unknown member': (gate) => gate.assertion({ sub: '4711' }),
  'a member id that only a lax database reads as one': (gate) => gate.assertion({ sub: '1 or 1=1' }),
  'a member id with a space': (gate) => gate.assertion({ sub: ' 1' }),
  'a member id with a leading zero': (gate) => gate.assertion({ sub: '01' }),
  'a member id that exceeds every integer': (gate) => gate.assertion({ sub: '9'.repeat(40) }),
  'a member who can no longer sign in': (gate) => gate.assertion({ sub: '3' }),
  'no client': (gate) => gate.assertion({ client_id: undefined }),
  // The form
  text: () => 'hello',
  'two parts': (gate) => edit(gate.assertion(), (parts) => parts.slice(0, 2)),
  'five parts': (gate) => edit(gate.assertion(), (parts) => [...parts, 'a', 'b']),
  padding: (gate) => `${gate.assertion()}==`,
  'a header that is not an object': (gate) => edit(gate.assertion(), ([, ...rest]) => [base64url('ES256'), ...rest]),
  'claims that are a list': (gate) => {
    const signed = `${base64url({ alg: 'ES256', kid: gate.key.kid })}.${base64url([1])}`;
    return `${signed}.${es256(Buffer.from(signed), gate.key).toString('base64url')}`;
  },
  'claims that are not JSON': (gate) => {
    const signed = `${base64url({ alg: 'ES256', kid: gate.key.kid })}.${Buffer.from('{"iss"').toString('base64url')}`;
    return `${signed}.${es256(Buffer.from(signed), gate.key).toString('base64url')}`;
  },
};

function createPrivateKeyJwk() {
  return createPrivateKey(STRANGER.privateKey.export({ type: 'pkcs8', format: 'pem' })).export({ format: 'jwk' });
}
