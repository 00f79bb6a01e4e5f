import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';

export interface RealIdp {
  readonly issuer: string;
  /** The member who signs in next; undefined means that they cancel. */
  member: string | undefined;
  /** How many seconds ago the provider says they signed in. */
  age: number;
  /** The query of the last authorization request. */
  asked: URLSearchParams;
  /** How many times a member was asked to sign in. */
  signIns: number;
  /** Registers the gate as a client with this redirect URI. */
  welcome(redirectUri: string): void;
  close(): Promise<void>;
}

export const IDP_SECRET = 'what the provider and the gate share';

/** A certified OpenID provider with its own keys, whose sign-in page submits itself. */
export async function startRealIdp(): Promise<RealIdp> {
  const idp = { issuer: '', member: 'sam', age: 0, asked: new URLSearchParams(), signIns: 0 } as RealIdp & {
    issuer: string;
  };
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  let answer: ReturnType<Provider['callback']> | undefined;
  const server = createServer((request, response) => void answer?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  idp.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const jwk = { ...(await exportJWK(privateKey)), kid: 'es', alg: 'ES256', use: 'sig' };
  return Object.assign(idp, {
    welcome: (redirectUri: string) => {
      answer = createProvider(idp, jwk, redirectUri).callback();
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

function createProvider(idp: RealIdp, jwk: object, redirectUri: string): Provider {
  const provider = new Provider(idp.issuer, {
    clients: [
      {
        client_id: 'gate',
        client_secret: IDP_SECRET,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: 'ES256',
        require_auth_time: true,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: {
      keys: ['a key of the provider'],
      names: { interaction: 'idp_interaction', resume: 'idp_resume', session: 'idp_session' },
    },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@school.test`, email_verified: true, name: `Name of ${sub}` }),
    }),
  });
  provider.use(async (ctx, next) => {
    if (ctx.path === '/auth') idp.asked = new URLSearchParams(ctx.querystring);
    if (!ctx.path.startsWith('/interaction/')) return next();
    const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
    ctx.respond = false;
    if (prompt.name === 'login') {
      idp.signIns += 1;
      const { member } = idp;
      const result =
        member === undefined
          ? { error: 'access_denied' }
          : { login: { accountId: member, ts: Math.floor(Date.now() / 1000) - idp.age } };
      return provider.interactionFinished(ctx.req, ctx.res, result);
    }
    const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(ctx.req, ctx.res, { consent }, { mergeWithLastSubmission: true });
  });
  return provider;
}
