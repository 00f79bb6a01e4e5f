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
  'HS256 keyed with the secret of the bridge': hs256(({ secret }) => secret),
  'HS256 and a kid of a published secret': (gate) =>
    gate.assertion({}, { alg: 'HS256', kid: 'oct' }, (signed) =>
      createHmac('sha256', 'published').update(signed).digest(),
    ),
  'ES256 by another key under the kid of ours': (gate) => gate.assertion({}, {}, (signed) => es256(signed, STRANGER)),
  'ES256 as DER': (gate) => gate.assertion({}, {}, (signed, { privateKey }) => sign('sha256', signed, privateKey)),
  'ES256 over SHA-384': (gate) =>
    gate.assertion({}, {}, (signed, { privateKey }) =>
      sign('sha384', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
  'a signature of zeros': (gate) => gate.assertion({}, {}, () => Buffer.alloc(64)),
  'a signature too short': (gate) => gate.assertion({}, {}, (signed, key) => es256(signed, key).subarray(0, 63)),
  'a signature too long': (gate) =>
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
  'a kid that is no text': (gate) => gate.assertion({}, { kid: ['k1'] }),
  'a kid that is a property of every object': (gate) => gate.assertion({}, { kid: '__proto__' }),
  'a kid of a key for encryption': (gate) =>
    gate.assertion({}, { kid: ENCRYPTION.kid }, (signed) => es256(signed, ENCRYPTION)),
  'a kid of a key of another kind': (gate) => gate.assertion({}, { kid: 'rsa' }),
  'RS256 by the published key of ID tokens': (gate) =>
    gate.assertion({}, { alg: 'RS256', kid: 'rsa' }, (signed) => sign('sha256', signed, RSA.privateKey)),
  'a kid of a key on another curve': (gate) => gate.assertion({}, { kid: 'other-curve' }),
  'a key of its own in the header': (gate) =>
    gate.assertion({}, { kid: 'mine', jwk: { ...createPrivateKeyJwk(), kid: 'mine' } }, (signed) =>
      es256(signed, STRANGER),
    ),
  'an address for its key in the header': (gate) =>
    gate.assertion({}, { jku: 'http://127.0.0.1:9/keys', x5u: 'http://127.0.0.1:9/keys', kid: 'mine' }, (signed) =>
      es256(signed, STRANGER),
    ),
  'an extension that must be understood': (gate) => gate.assertion({}, { crit: ['b64'], b64: true }),
  // Audience and issuer
  'the audience of another backend': (gate) => gate.assertion({ aud: 'progress' }),
  'no audience': (gate) => gate.assertion({ aud: undefined }),
  'an audience that begins like ours': (gate) => gate.assertion({ aud: 'school2' }),
  'an audience beside ours': (gate) => gate.assertion({ aud: ['school', 'progress'] }),
  'another issuer': (gate) => gate.assertion({ iss: 'https://evil.example' }),
  'the issuer with a slash': (gate) => gate.assertion({ iss: `${gate.origin}/` }),
  'no issuer': (gate) => gate.assertion({ iss: undefined }),
  // Times
  'its time over': (gate) => gate.assertion({ iat: now() - 120, exp: now() - 60 }),
  'no end': (gate) => gate.assertion({ exp: undefined }),
  'an end that is text': (gate) => gate.assertion({ exp: String(now() + 60) }),
  'no beginning': (gate) => gate.assertion({ iat: undefined }),
  'its beginning in the future': (gate) => gate.assertion({ iat: now() + 300, exp: now() + 360 }),
  'its validity in the future': (gate) => gate.assertion({ nbf: now() + 300, exp: now() + 360 }),
  // Subject
  'no member': (gate) => gate.assertion({ sub: undefined }),
  'an empty member': (gate) => gate.assertion({ sub: '' }),
  'a member that is a number': (gate) => gate.assertion({ sub: 1 }),
  'a member that is a list': (gate) => gate.assertion({ sub: ['1'] }),
  'a member nobody knows': (gate) => gate.assertion({ sub: '4711' }),
  'a member id that only a lax database reads as one': (gate) => gate.assertion({ sub: '1 or 1=1' }),
  'a member id with a space': (gate) => gate.assertion({ sub: ' 1' }),
  'a member id with a zero in front': (gate) => gate.assertion({ sub: '01' }),
  'a member id beyond every number': (gate) => gate.assertion({ sub: '9'.repeat(40) }),
  'a member who may no longer sign in': (gate) => gate.assertion({ sub: '3' }),
  'no client': (gate) => gate.assertion({ client_id: undefined }),
  // The form
  'nothing in it': () => ' ',
  text: () => 'hello',
  'two parts': (gate) => edit(gate.assertion(), (parts) => parts.slice(0, 2)),
  'five parts': (gate) => edit(gate.assertion(), (parts) => [...parts, 'a', 'b']),
  padding: (gate) => `${gate.assertion()}==`,
  'a header that is no object': (gate) => edit(gate.assertion(), ([, ...rest]) => [base64url('ES256'), ...rest]),
  'claims that are a list': (gate) => {
    const signed = `${base64url({ alg: 'ES256', kid: gate.key.kid })}.${base64url([1])}`;
    return `${signed}.${es256(Buffer.from(signed), gate.key).toString('base64url')}`;
  },
  'claims that are no JSON': (gate) => {
    const signed = `${base64url({ alg: 'ES256', kid: gate.key.kid })}.${Buffer.from('{"iss"').toString('base64url')}`;
    return `${signed}.${es256(Buffer.from(signed), gate.key).toString('base64url')}`;
  },
};

function createPrivateKeyJwk() {
  return createPrivateKey(STRANGER.privateKey.export({ type: 'pkcs8', format: 'pem' })).export({ format: 'jwk' });
}
