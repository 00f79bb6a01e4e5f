import { randomBytes } from 'node:crypto';
import { JWKS_TIMEOUT } from '../../../../config/constants.ts';
import { pagesOrigin } from '../../../../config/pages.ts';
import { requiredSecret } from '../../../../config/read-secrets.ts';
import type { Config } from '../../../../config/schema.ts';
import { GatewayError } from '../../../../errors.ts';
import { bridgeProvider } from '../../../../login/bridge.ts';
import type { SignInProvider } from '../../../../login/connector.ts';
import { outboundFetch } from '../../../../login/outbound-fetch.ts';
import { isRedirect, redirectTarget, type SiteAnswer } from '../../answer.ts';
import { failure, judgeEach, pass } from '../../finding.ts';
import { Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import type { Installation } from '../installation.ts';
import { causeOf } from '../open-installation.ts';

const kindIs =
  (...kinds: readonly Config['login']['kind'][]) =>
  ({ login }: Config) =>
    kinds.includes(login.kind);

/** The other ways to sign in, as far as they show without a member. */
export const CONNECTORS = [
  ...backendChecks(kindIs('bridge'), {
    async 'signin.bridge'(installation) {
      const answer = await askBridge(installation, requiredSecret(installation.loaded.secrets, 'login.secret'));
      if (answer.status >= 400) return failure(`it answers ${answer.status} to a request with a valid signature`);
      const target = redirectTarget(answer);
      if (target?.pathname.startsWith('/oauth/') === true && target.searchParams.has('sso'))
        return failure('it returns a member although no one is signed in');
      return pass(target === undefined ? `it answers ${answer.status}` : `it redirects to ${target.pathname}`);
    },
    async 'signin.bridge-forged'(installation) {
      const answer = await askBridge(installation, randomBytes(32).toString('hex'));
      if (answer.status >= 400 && answer.status < 500) return pass(`${answer.status}`);
      return failure(`it answers ${answer.status} to a request that is signed with another secret`);
    },
  }),
  ...backendChecks(kindIs('webhook', 'form', 'database', 'directory'), {
    async 'signin.refused'({ login }) {
      if (login.shape !== 'credentials') throw new Unavailable('members enter no password here');
      const username = `coursegate-doctor-${randomBytes(4).toString('hex')}`;
      const password = randomBytes(16).toString('hex');
      try {
        const verdict = await login.check({ username, password, address: '127.0.0.1' });
        if (verdict.kind === 'member') return failure('an invented name and password sign in a member');
        if (verdict.kind === 'slow_down') throw new Unavailable('the backend accepts no more attempts for now');
        return pass('refused as wrong');
      } catch (thrown) {
        if (thrown instanceof GatewayError) return failure(causeOf(thrown));
        throw thrown;
      }
    },
  }),
  ...backendChecks(kindIs('webhook'), {
    async 'signin.unsigned'({ config: { login }, send }) {
      if (login.kind !== 'webhook') throw new Unavailable('there is no webhook');
      const answer = await send({
        upstream: login.upstream,
        method: 'POST',
        path: login.path,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'coursegate-doctor', password: '', address: '127.0.0.1' }),
      });
      const signed = answer.headers['coursegate-signature'] !== undefined;
      if (answer.status >= 400 && answer.status < 500 && !signed) return pass(`${answer.status}`);
      return failure(`it answers ${answer.status}${signed ? ', signed,' : ''} to a request without a signature`);
    },
  }),
  ...backendChecks(kindIs('oidc'), {
    'signin.providers': (installation) =>
      judgeEach('metadata and sign-in page', providersOf(installation), async (provider) => {
        const { url, callback } = await begin(provider, installation).catch((thrown: unknown) => ({
          url: causeOf(thrown),
          callback: undefined,
        }));
        if (typeof url === 'string') return failure(`${provider.id}: ${url}`);
        const answer = await installation.pages.get(url);
        if (answer.status < 400) return undefined;
        return failure(
          `${provider.id}: its sign-in page answers ${answer.status} to our client, with ${callback?.href}`,
        );
      }),
    'signin.client': (installation) =>
      judgeEach('an invented code is refused, and nothing else', providersOf(installation), async (provider) => {
        const { callback, kept, state } = await begin(provider, installation).catch(() => {
          throw new Unavailable('the metadata of a provider is not available');
        });
        const query = new URLSearchParams({
          code: 'coursegate-doctor',
          state,
          iss: issuerOf(provider, installation),
        });
        const thrown = await provider.finish({ query, callback, kept }).catch((reason: unknown) => reason);
        if (thrown instanceof GatewayError && thrown.code === 'invalid_request') return undefined;
        return failure(`${provider.id}: ${thrown instanceof Error ? causeOf(thrown) : 'it accepts an invented code'}`);
      }),
  }),
  ...backendChecks(({ login }) => login.kind === 'header' && login.jwt !== undefined, {
    async 'signin.proxy'({ config: { login } }) {
      if (login.kind !== 'header' || login.jwt === undefined) throw new Unavailable('there is no signed assertion');
      const { jwks } = login.jwt;
      const fetch = outboundFetch({ timeout: JWKS_TIMEOUT, loopback: new URL(jwks).protocol === 'http:' });
      const response = await fetch(jwks).catch((thrown: unknown) => causeOf(thrown));
      if (typeof response === 'string') return failure(`${jwks}: ${response}`);
      const keys = await response.json().then(
        (document: unknown) => (Object(document) as { keys?: unknown }).keys,
        () => undefined,
      );
      if (response.status === 200 && Array.isArray(keys) && keys.length > 0) return pass(`${keys.length} key(s)`);
      return failure(`${jwks} answers ${response.status} without keys`);
    },
  }),
];

/** The answer of the bridge to a browser without cookies. */
async function askBridge({ config, pages }: Installation, secret: string): Promise<SiteAnswer> {
  const { login, origin } = config;
  if (login.kind !== 'bridge') throw new Unavailable('there is no bridge');
  const provider = bridgeProvider({ url: login.url, origin, secret });
  const state = randomBytes(16).toString('hex');
  const { url } = await provider.begin({ state, callback: callbackOf(provider, pagesOrigin(config)), wish: NO_WISH });
  const answer = await pages.get(url);
  const target = isRedirect(answer) ? redirectTarget(answer) : undefined;
  // A redirect to the same address, such as to https or with a final slash.
  return target !== undefined && target.searchParams.get('sso') === url.searchParams.get('sso') && samePage(target, url)
    ? pages.get(target)
    : answer;
}

function samePage(one: URL, other: URL): boolean {
  return one.pathname.replace(/\/$/, '') === other.pathname.replace(/\/$/, '') && one.search === other.search;
}

const NO_WISH = { loginHint: undefined, uiLocales: undefined };

function callbackOf({ id }: SignInProvider, origin: string): URL {
  return new URL(`/oauth/sign-in/callback/${id}`, origin);
}

function providersOf({ login }: Installation): readonly SignInProvider[] {
  return login.shape === 'redirect' ? login.providers : [];
}

function issuerOf({ id }: SignInProvider, { config: { login } }: Installation): string {
  return login.kind === 'oidc' ? (login.providers.find((one) => one.id === id)?.issuer ?? '') : '';
}

async function begin(provider: SignInProvider, { config }: Installation) {
  const state = randomBytes(16).toString('hex');
  const callback = callbackOf(provider, pagesOrigin(config));
  return { ...(await provider.begin({ state, callback, wish: NO_WISH })), callback, state };
}
