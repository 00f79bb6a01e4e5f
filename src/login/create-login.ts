/**
 * How members sign in. The configuration chooses one login: a cookie, header or sign-in session identifies the member, or
 * they enter credentials on coursegate's own page, or they sign in elsewhere and return with a proof (see connector.ts).
 */

import type { Share } from '../config/carried-over.ts';
import type { ClaimsConfig } from '../config/claims.ts';
import type { DirectoryMember } from '../config/members-file.ts';
import { requiredSecret } from '../config/read-secrets.ts';
import type { Config } from '../config/schema.ts';
import { keptCookies } from '../config/upstream-credential.ts';
import type { Log } from '../operations/log.ts';
import type { Hashing } from '../passwords/hashing.ts';
import type { Clock, Store } from '../storage/store.ts';
import { ownCallPlace } from '../upstream/header-policy.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { Login } from './connector.ts';
import { evenRefusals } from './even-refusals.ts';

export interface LoginParts {
  readonly origin: string;
  /** Where members come back to: `origin`, or that of `pages.origin`. */
  readonly pagesOrigin: string;
  /** Where the site's session is handed over to pages at another host; undefined if they are at `origin`. */
  readonly handOver?: { readonly at: string; readonly store: Store } | undefined;
  readonly call: CallUpstream;
  readonly clock: Clock;
  readonly upstreams: Config['upstreams'];
  /** The secrets of `login`, keyed by path: `login.secret`. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The members of a `directory` login when the configuration was loaded. */
  readonly members: readonly DirectoryMember[] | undefined;
  /** Claims to read from what the login says about a member. */
  readonly claims: ClaimsConfig;
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** Shares the hashing queue with the previous configuration, so that the limit on concurrent hashes still holds. */
  readonly share: Share;
}

/**
 * Creates the configured login. Modules of other logins are not loaded. Does not throw: mistakes were found when the
 * configuration was loaded.
 */
export async function createLogin(
  config: Config['login'],
  { origin, pagesOrigin, handOver, call, clock, upstreams, secrets, members = [], claims, log, share }: LoginParts,
): Promise<Login> {
  switch (config.kind) {
    case 'session': {
      const base = upstreams[config.upstream]?.url ?? '';
      if (handOver !== undefined) {
        const { handOverLogin } = await import('./hand-over.ts');
        const credentials = keptCookies(upstreams) ?? [];
        return handOverLogin(config, { ...handOver, origin, base, credentials, call, clock, claims, log });
      }
      const { sessionConnector } = await import('./session.ts');
      return { shape: 'ambient', connector: sessionConnector(config, { origin, call, base, claims, clock, log }) };
    }
    case 'bridge': {
      const { bridgeProvider } = await import('./bridge.ts');
      return {
        shape: 'redirect',
        providers: [bridgeProvider({ url: config.url, origin, secret: requiredSecret(secrets, 'login.secret') })],
      };
    }
    case 'webhook': {
      const { webhookCheck } = await import('./webhook.ts');
      const check = webhookCheck(config, { call, clock, claims, secret: requiredSecret(secrets, 'login.secret') });
      return { shape: 'credentials', check: evenRefusals(check, config.attempts.refusalTime) };
    }
    case 'form': {
      const upstream = upstreams[config.upstream];
      if (upstream === undefined) throw new Error(`There is no upstream named ${config.upstream}.`);
      const { formCheck } = await import('./form/form.ts');
      const check = formCheck(config, { call, clock, claims, base: upstream.url, ...ownCallPlace(upstream, origin) });
      return { shape: 'credentials', check: evenRefusals(check, config.attempts.refusalTime) };
    }
    case 'directory': {
      const { createDirectory } = await import('./directory.ts');
      const hashing = await sharedHashing(share);
      return { shape: 'credentials', ...createDirectory({ file: config.file, members, hashing, log }) };
    }
    case 'database': {
      const { databaseCheck } = await import('./database/database.ts');
      const hashing = await sharedHashing(share);
      const url = requiredSecret(secrets, 'login.url');
      const pepper = secrets.get('login.hash.pepper');
      return { shape: 'credentials', ...databaseCheck(config, { url, pepper, hashing, log }) };
    }
    case 'header': {
      const { headerConnector } = await import('./header.ts');
      return { shape: 'ambient', connector: headerConnector(config, pagesOrigin, clock) };
    }
    case 'oidc': {
      const { oidcProvider } = await import('./oidc/oidc.ts');
      return {
        shape: 'redirect',
        providers: config.providers.map((provider, index) => {
          const clientSecret = secrets.get(`login.providers[${index}].clientSecret`);
          return oidcProvider({ provider, clientSecret, timeout: config.timeout, clock });
        }),
      };
    }
  }
}

async function sharedHashing(share: Share): Promise<Hashing> {
  const { createHashing } = await import('../passwords/hashing.ts');
  return share.take('hashing', undefined, createHashing);
}
