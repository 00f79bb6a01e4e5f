/**
 * How members sign in. The configuration chooses one login: a cookie, header or sign-in session identifies the member, or
 * they enter credentials on coursegate's own page, or they sign in elsewhere and return with a proof (see connector.ts).
 */

import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { once } from '../http/once.ts';
import type { Store } from '../storage/store.ts';
import type { SessionOwner } from '../upstream/credentials/session-replay.ts';
import { keptCookies } from '../upstream/credentials/settings.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { Login } from './connector.ts';
import { type LoginConfig, loginCookies } from './kinds.ts';
import type { LoginParts } from './login-parts.ts';

type Kind = LoginConfig['kind'];
type ConfigOf<K extends Kind> = Extract<LoginConfig, { readonly kind: K }>;

/** What the module of a way to sign in exports. */
interface ConnectorModule<K extends Kind> {
  /** Does not throw: mistakes were found when the configuration was loaded. */
  open(config: ConfigOf<K>, parts: LoginParts): Login | Promise<Login>;
  /** Set where the cookies are a session at the backend. */
  sessionOwner?(config: ConfigOf<K>, upstreams: Config['upstreams'], call: CallUpstream): SessionOwner;
  /**
   * Checks that what the login needs is installed. Does not connect.
   * @throws {ConfigError} that says what to install
   */
  checkInstalled?(loaded: LoadedConfig): Promise<void>;
}

/** The module of each way to sign in. Only that of the configured one is loaded. */
const CONNECTORS: { readonly [K in Kind]: () => Promise<ConnectorModule<K>> } = {
  session: () => import('./session/connector.ts'),
  bridge: () => import('./bridge/connector.ts'),
  webhook: () => import('./webhook/connector.ts'),
  form: () => import('./form/connector.ts'),
  directory: () => import('./directory/connector.ts'),
  database: () => import('./database/connector.ts'),
  header: () => import('./header/connector.ts'),
  oidc: () => import('./oidc/connector.ts'),
  'jwt-cookie': () => import('./jwt-cookie/connector.ts'),
};

function connectorOf<K extends Kind>(kind: K): Promise<ConnectorModule<K>> {
  return CONNECTORS[kind]();
}

/** Where the site's cookies are handed over to pages at another host: their address, and what is kept in between. */
export interface HandOverPlace {
  readonly at: string;
  readonly store: Store;
}

/**
 * Opens the configured login. `handOver` is undefined if the pages are at `origin`. Does not throw: mistakes were found
 * when the configuration was loaded.
 */
export async function openLogin(
  config: LoginConfig,
  parts: LoginParts,
  handOver: HandOverPlace | undefined,
): Promise<Login> {
  const login = await (await connectorOf(config.kind)).open(config, parts);
  const cookies = loginCookies(config);
  if (handOver === undefined || login.shape !== 'ambient' || cookies.length === 0) return login;
  const { handOverLogin } = await import('./hand-over.ts');
  const listed = [...cookies, ...(keptCookies(parts.upstreams) ?? [])];
  return handOverLogin(login.connector, { ...handOver, cookies: listed, clock: parts.clock });
}

/** Asks whose a stored session is. Rejects for a login that has none to store. */
export function sessionOwner(config: LoginConfig, upstreams: Config['upstreams'], call: CallUpstream): SessionOwner {
  const owner = once(async () => (await connectorOf(config.kind)).sessionOwner?.(config, upstreams, call));
  return async (cookies) => {
    const ask = await owner();
    if (ask === undefined) throw new GatewayError('login_unavailable');
    return ask(cookies);
  };
}

/**
 * Checks at start that what the configured login needs is installed.
 * @throws {ConfigError} that says what to install
 */
export async function checkInstalled(loaded: LoadedConfig): Promise<void> {
  const { kind } = loaded.config.login;
  await (await connectorOf(kind)).checkInstalled?.(loaded);
}
