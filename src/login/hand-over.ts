import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SessionLoginConfig } from '../config/session-login.ts';
import { GatewayError } from '../errors.ts';
import { chargeTo, PENDING } from '../storage/quota.ts';
import { jsonEntry, type Store, unixSeconds } from '../storage/store.ts';
import type { HandOver, Login } from './connector.ts';
import { cookieFilter } from './cookies.ts';
import { type SessionOptions, sessionConnector } from './session.ts';
import { askWhoami } from './session-owner.ts';

const KIND = 'HandOver';

/** Seconds between the redirect from the site's host and its arrival at the host of the pages. */
const LIFETIME = 60;

/** What is kept between the two hosts, sealed like everything in the store. */
interface Kept {
  readonly state: string;
  readonly cookies: string;
}

export interface HandOverOptions extends SessionOptions {
  /** The address of the hand-over, at the origin of the site: the state of the sign-in is appended to it. */
  readonly at: string;
  /** Names of the cookies that upstreams act with (`credential.kind: session`); `*` is a wildcard. */
  readonly credentials: readonly string[];
  readonly store: Store;
}

/**
 * The `session` login with `pages.origin`, whose host the site's cookies do not reach. The browser goes to the site's
 * host and comes back with a random id, for which the store has the cookies. The id is good once, for a minute, and only
 * in the browser that began the sign-in. From then on, each step asks whoami again, with the cookies in the sign-in
 * session.
 */
export function handOverLogin(config: SessionLoginConfig, options: HandOverOptions): Login {
  const { at, base, call, store, clock, claims } = options;
  const ask = askWhoami(config, call, base, claims);
  const connector = sessionConnector(config, options);
  const listed = cookieFilter([...config.cookies, ...options.credentials]);
  const signInUrl: HandOver['signInUrl'] = (state, wish) =>
    connector.signInUrl(new URL(`${at}/${state}/return`), { uiLocales: undefined, ...wish });

  return {
    shape: 'redirect',
    providers: [
      {
        id: 'site',
        name: '',
        async begin({ state, wish }) {
          if (wish.another === true || wish.fresh === true) return { url: signInUrl(state, wish), kept: '' };
          const url = new URL(`${at}/${state}`);
          if (wish.loginHint !== undefined) url.searchParams.set('login_hint', wish.loginHint);
          return { url, kept: '' };
        },
        stateOf: (query) => query.get('state') ?? undefined,
        async finish({ query }) {
          const id = query.get('id');
          if (id === null) return undefined;
          const entry = await store.get(KIND, id);
          const kept = entry === undefined ? undefined : (JSON.parse(entry.payload) as Kept);
          const isForThis = kept !== undefined && kept.state === query.get('state');
          if (!isForThis || !(await store.commit([{ op: 'consume', kind: KIND, id }])))
            throw new GatewayError('invalid_request');
          const { member } = await ask(kept.cookies);
          return member && { ...member, cookies: kept.cookies };
        },
      },
    ],
    handOver: {
      knowsAuthTime: connector.knowsAuthTime,
      cameBackAnonymous: (headers) => connector.cameBackAnonymous?.(headers),
      signInUrl,
      async keep(headers: IncomingHttpHeaders, state: string): Promise<string | undefined> {
        const cookies = listed(headers.cookie ?? '');
        if ((await ask(cookies)).member === undefined) return undefined;
        const id = randomBytes(32).toString('base64url');
        const entry = jsonEntry(KIND, id, { state, cookies } satisfies Kept, unixSeconds(clock) + LIFETIME);
        await store.commit([{ op: 'create', entry: { ...entry, charge: chargeTo(PENDING) } }]);
        return id;
      },
      again: async ({ cookies = '' }) => (await ask(cookies)).member,
    },
  };
}
