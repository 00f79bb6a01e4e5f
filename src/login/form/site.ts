import type { CallUpstream, UpstreamRequest, UpstreamResponse } from '../../upstream/request.ts';
import { unusable } from '../whoami/unusable.ts';
import type { CookieJar } from './cookie-jar.ts';

/** The backend as used by a browser with this cookie jar. */
export type FormSite = ReturnType<typeof createSite>;

interface SiteRequest extends Pick<UpstreamRequest, 'method' | 'path' | 'body' | 'headers'> {
  readonly from?: string | undefined;
}

export interface FormSiteOptions {
  readonly upstream: string;
  /** The origin that the backend considers its own. */
  readonly origin: string;
  /** Other origins of the same backend. */
  readonly aliases: readonly string[];
  /** The path prefix of the upstream, which the call adds. */
  readonly prefix: string;
  readonly call: CallUpstream;
  readonly jar: CookieJar;
  readonly signal: AbortSignal;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MOST_HOPS = 5;

export function createSite({ upstream, origin, aliases, prefix, call, jar, signal }: FormSiteOptions) {
  const seen = (path: string) => `${origin}${prefix}${path}`;

  /** Resolves an address on a page to a path; undefined if it is on another site, which is never called. */
  const within = (address: string, from: string): string | undefined => {
    if (!URL.canParse(address, seen(from))) return undefined;
    const url = new URL(address, seen(from));
    if (url.origin !== origin && !aliases.includes(url.origin)) return undefined;
    const path = url.pathname + url.search;
    if (prefix === '') return path;
    return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
  };

  const ask = async ({ from, headers = {}, ...request }: SiteRequest): Promise<UpstreamResponse> => {
    const cookie = jar.header();
    const answer = await call({
      upstream,
      ...request,
      headers: {
        accept: 'text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8',
        // As browsers do: frameworks check which page a form was sent from.
        ...(request.method === 'GET' ? {} : { origin }),
        ...(from === undefined ? {} : { referer: seen(from) }),
        ...(cookie === '' ? {} : { cookie }),
        ...headers,
      },
      signal,
    });
    jar.take(answer);
    return answer;
  };

  return {
    within,
    ask,
    /** Sends a GET and follows a limited number of redirects within the site. Returns the last response and its path. */
    async open(path: string) {
      let at = path;
      for (let hops = 0; hops <= MOST_HOPS; hops += 1) {
        const answer = await ask({ method: 'GET', path: at, from: hops === 0 ? undefined : at });
        if (!REDIRECTS.has(answer.status)) return { answer, path: at };
        const next = within(answer.headers.location ?? '', at);
        if (next === undefined) throw unusable(`a redirect to another site at ${at}`);
        at = next;
      }
      throw unusable(`more than ${MOST_HOPS} redirects at ${path}`);
    },
  };
}
