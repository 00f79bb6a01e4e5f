import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly pair: Pair;
}

export async function signingKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  return { kid, alg, pair: await generateKeyPair(alg, { extractable: true }) };
}

/** An identity provider that responds as scripted, correctly or not. */
export interface ScriptedIdp {
  readonly issuer: string;
  /** The paths requested, in order. */
  readonly hits: string[];
  /** The query of the last authorization request. */
  asked: URLSearchParams;
  /** The form of the last token request. */
  redeemed: URLSearchParams | undefined;
  key: SigningKey;
  /** The keys in its JWKS. */
  published: readonly SigningKey[];
  /** Overrides for its metadata. */
  metadata: Record<string, unknown>;
  /** Overrides for the claims of its tokens; undefined removes one. */
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown> | undefined;
  /** Makes the ID token from these claims; by default it is signed with `key`. */
  sign: ((claims: JWTPayload) => Promise<string> | string) | undefined;
  /** Replaces the responses at these paths. */
  answers: Record<string, (response: ServerResponse) => void>;
  /** Changes the response at the callback. */
  back: (callback: URL) => void;
  reset(): void;
  close(): Promise<void>;
}

export async function startScriptedIdp(): Promise<ScriptedIdp> {
  const codes = new Map<string, { nonce: string | null; challenge: string | null; clientId: string | null }>();
  const first = await signingKey('k1');
  const usual = () => ({
    asked: new URLSearchParams(),
    redeemed: undefined,
    key: first,
    published: [first],
    metadata: {},
    claims: {},
    userinfo: undefined,
    sign: undefined,
    answers: {},
    back: () => {},
  });
  const idp = { ...usual(), issuer: '', hits: [] as string[] } as unknown as ScriptedIdp & { issuer: string };

  const json = (response: ServerResponse, body: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const token = async (response: ServerResponse, form: URLSearchParams): Promise<void> => {
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code === undefined || challenge !== code.challenge) {
      json(response, { error: 'invalid_grant' }, 400);
      return;
    }
    const now = Math.floor(Date.now() / 1000);
    const all = {
      iss: idp.issuer,
      aud: code.clientId,
      sub: 'u-1',
      nonce: code.nonce,
      iat: now,
      exp: now + 300,
      ...idp.claims,
    };
    const claims = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as JWTPayload;
    const id_token = await (idp.sign?.(claims) ?? signedBy(idp.key, claims));
    json(response, { access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token });
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', idp.issuer);
    idp.hits.push(url.pathname);
    const instead = idp.answers[url.pathname];
    if (instead !== undefined) return instead(response);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return json(response, {
          issuer: idp.issuer,
          authorization_endpoint: `${idp.issuer}/authorize`,
          token_endpoint: `${idp.issuer}/token`,
          jwks_uri: `${idp.issuer}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          authorization_response_iss_parameter_supported: true,
          ...(idp.userinfo === undefined ? {} : { userinfo_endpoint: `${idp.issuer}/userinfo` }),
          ...idp.metadata,
        });
      case '/jwks':
        return json(response, {
          keys: await Promise.all(
            idp.published.map(async ({ kid, alg, pair }) => ({ ...(await exportJWK(pair.publicKey)), kid, alg })),
          ),
        });
      case '/authorize': {
        idp.asked = url.searchParams;
        const code = randomBytes(16).toString('hex');
        const { searchParams: asked } = url;
        codes.set(code, {
          nonce: asked.get('nonce'),
          challenge: asked.get('code_challenge'),
          clientId: asked.get('client_id'),
        });
        const callback = new URL(asked.get('redirect_uri') ?? '');
        callback.searchParams.set('code', code);
        callback.searchParams.set('state', asked.get('state') ?? '');
        callback.searchParams.set('iss', idp.issuer);
        idp.back(callback);
        return response.writeHead(302, { location: callback.href }).end();
      }
      case '/token': {
        let body = '';
        for await (const chunk of request) body += chunk;
        idp.redeemed = new URLSearchParams(body);
        return token(response, idp.redeemed);
      }
      case '/userinfo':
        return json(response, idp.userinfo);
      default:
        return json(response, {}, 404);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(idp, {
    issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset: () => {
      idp.hits.length = 0;
      Object.assign(idp, usual());
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

export function signedBy({ kid, alg, pair }: SigningKey, claims: JWTPayload, header = {}): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(pair.privateKey);
}
