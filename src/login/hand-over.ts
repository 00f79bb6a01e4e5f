import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.ts';
import { chargeTo, PENDING } from '../storage/quota.ts';
import { type Clock, jsonEntry, type Store, unixSeconds } from '../storage/store.ts';
import type { HandOver, Login, LoginConnector } from './connector.ts';
import { cookieFilter } from './cookies.ts';

const KIND = 'HandOver';

/** Seconds between the redirect from the site's host and its arrival at the host of the pages. */
const LIFETIME = 60;

/** What is kept between the two hosts, sealed like everything in the store. */
interface Kept {
  readonly state: string;
  readonly cookies: string;
}

export interface HandOverOptions {
  /** The address of the hand-over, at the origin of the site: the state of the sign-in is appended to it. */
  readonly at: string;
  /** Names of the cookies that identify a member, and of those that upstreams act with; `*` is a wildcard. */
  readonly cookies: readonly string[];
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * A login by the site's cookies with `pages.origin`, whose host they do not reach. The browser goes to the site's host
 * and comes back with a random id, for which the store has the cookies. The id is good once, for a minute, and only in
 * the browser that began the sign-in. From then on, each step identifies the member again, by the cookies in the sign-in
 * session.
 */
export function handOverLogin(connector: LoginConnector, { at, cookies, store, clock }: HandOverOptions): Login {
  const ask = (cookie: string) => connector.identify({ cookie }, { trusted: false });
  const listed = cookieFilter(cookies);
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
          const member = await ask(kept.cookies);
          return member && { ...member, cookies: kept.cookies };
        },
      },
    ],
    handOver: {
      knowsAuthTime: connector.knowsAuthTime,
      cameBackAnonymous: (headers) => connector.cameBackAnonymous?.(headers),
      signInUrl,
      async keep(headers: IncomingHttpHeaders, state: string): Promise<string | undefined> {
        const shown = listed(headers.cookie ?? '');
        if ((await ask(shown)) === undefined) return undefined;
        const id = randomBytes(32).toString('base64url');
        const entry = jsonEntry(KIND, id, { state, cookies: shown } satisfies Kept, unixSeconds(clock) + LIFETIME);
        await store.commit([{ op: 'create', entry: { ...entry, charge: chargeTo(PENDING) } }]);
        return id;
      },
      again: ({ cookies: kept = '' }) => ask(kept),
    },
  };
}
